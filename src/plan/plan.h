/*
 * plan.h
 *		The ways into plans, as the planner's hooks and EXPLAIN see them.
 */
#ifndef GPUSORT_PLAN_H
#define GPUSORT_PLAN_H

#include "nodes/plannodes.h"
#include "optimizer/paths.h"
#include "optimizer/planner.h"

#include "pg_compat/planner.h"
#include "stats/stats.h"

/* ---------- what the planner's hooks call ---------- */

/*
 * Add paths of ours to those that the planner has for a table, a pair of relations, or a step above
 * the joins.
 */
extern void gpusort_consider_table(PlannerInfo *root, RelOptInfo *rel);
extern void gpusort_consider_joins(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel,
								   RelOptInfo *innerrel, JoinType jointype,
								   JoinPathExtraData *extra);
extern void gpusort_consider_upper_paths(PlannerInfo *root, UpperRelationKind stage,
										 RelOptInfo *input_rel, RelOptInfo *output_rel,
										 void *extra);

/*
 * Has a planner make the plan, and takes over the Sorts that it has put there without calling any
 * other hook.
 */
extern PlannedStmt *gpusort_plan(planner_hook_type planner, GPUSORT_PLANNER_PARAMETERS);

/* ---------- looks: the sorts of a finished plan, taken over or not, and why ---------- */

/* EXPLAIN and gpusort_advise() tell of them. */

typedef struct GpuSortLook
{
	/*
	 * a node that sorts: a Sort, one of ours, an Agg that sorts within itself, or a MergeAppend; or
	 * a node that has a hash table instead
	 */
	const Plan *plan;
	/* what the node sorts by; NULL if it is an Agg that sorts within itself, or a join */
	const Sort *sort;
	GpuSortKind kind;
	const char *reason;			/* why it is left to PostgreSQL; NULL if it is taken over */
	/* core_cost and cost are known, of the sort alone, without its input */
	bool		has_costs;
	Cost		core_cost;
	Cost		cost;
	/* what a node of PostgreSQL's costs beyond the planner's estimate; 0 if that is not known */
	Cost		lacking;
} GpuSortLook;

/* Returns the setting that would change a reason, or NULL. */
extern const char *gpusort_setting_for(const char *reason);

/*
 * Returns the sorts of a plan that has been through gpusort_replace_sorts(), a List of GpuSortLook.
 * Why a sort is left to PostgreSQL is told by the settings as they are now.
 */
extern List *gpusort_look_at_sorts(PlannedStmt *stmt, bool all_read);

#endif							/* GPUSORT_PLAN_H */
