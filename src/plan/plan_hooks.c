/*
 * plan_hooks.c
 *		What the planner's hooks call.
 *
 * While the planner makes paths, ours are added, which compete by cost: for tables, for joins, and
 * for the steps above the joins (grouping, window functions, DISTINCT, set operations, ORDER BY).
 * When a plan is finished, the Sorts are looked at that the planner has put into it without calling
 * any of these hooks.
 */
#include "postgres.h"

#include "cost/cost.h"
#include "plan/plan.h"
#include "plan/plan_joins_private.h"
#include "plan/plan_paths_private.h"
#include "plan/plan_replace_private.h"
#include "settings.h"

/*
 * Whether gpusort was off while paths were made.  A hook below ours may have switched it off for
 * this statement only, as pg_hint_plan does for its hint Set.
 */
static bool was_off = false;

void
gpusort_consider_table(PlannerInfo *root, RelOptInfo *rel)
{
	if (!gpusort_enabled)
		was_off = true;
	if (gpusort_enabled && gpusort_enable_order_by)
		gpusort_add_early_paths(root, rel);
}

void
gpusort_consider_joins(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel,
					   RelOptInfo *innerrel, JoinType jointype, JoinPathExtraData *extra)
{
	GpuSortPair pair;

	if (!gpusort_enabled)
		was_off = true;
	if (gpusort_look_at_pair(root, joinrel, outerrel, innerrel, jointype, extra, &pair))
	{
		gpusort_add_join_paths(&pair);
		gpusort_add_merge_join_paths(&pair);
	}
	gpusort_add_leaf_join_paths(root, joinrel, outerrel, innerrel, jointype, extra);
	if (root->limit_tuples > 0)
		gpusort_drop_long_loops(root, joinrel);
}

void
gpusort_consider_upper_paths(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input_rel,
							 RelOptInfo *output_rel, void *extra)
{
	if (!gpusort_enabled)
		was_off = true;
	if (!gpusort_enabled || !gpusort_enable_order_by)
		return;
	if (stage == UPPERREL_ORDERED)
		gpusort_add_order_by_paths(root, input_rel, output_rel);
	else if (stage == UPPERREL_DISTINCT)
		gpusort_add_distinct_paths(root, input_rel, output_rel);
	else if (stage == UPPERREL_SETOP)
		gpusort_add_setop_paths(root, output_rel);
	else if (stage == UPPERREL_WINDOW)
		gpusort_add_window_paths(root, input_rel, output_rel);
	else if (stage == UPPERREL_GROUP_AGG)
		gpusort_add_group_by_paths(root, input_rel, output_rel, extra);
}

/*
 * If a plan would be another had other sessions not taken the pool, it must not stay in a prepared
 * statement: it is marked transient, and made anew later.  Plans may be made while a plan is made,
 * and may fail without failing the outer one, so the state of the outer plan is saved and restored.
 */
PlannedStmt *
gpusort_plan(planner_hook_type planner, GPUSORT_PLANNER_PARAMETERS)
{
	PlannedStmt *volatile stmt = NULL;
	bool		outer_was_short = gpusort_cost_pool_was_short;
	bool		outer_was_off = was_off;

	gpusort_cost_pool_was_short = false;
	was_off = false;
	gpusort_begin_estimates();
	PG_TRY();
	{
		stmt = planner(GPUSORT_PLANNER_ARGUMENTS);
		gpusort_replace_sorts(stmt, gpusort_enabled && !was_off,
							  !(cursor_options & CURSOR_OPT_FAST_PLAN));
		stmt->transientPlan |= gpusort_cost_pool_was_short;
	}
	PG_FINALLY();
	{
		gpusort_end_estimates();
		was_off = outer_was_off;
		gpusort_cost_pool_was_short |= outer_was_short;
	}
	PG_END_TRY();
	return stmt;
}
