/*
 * plan_look.c
 *		The sorts of a finished plan: whose they are, and why; see plan_replace_private.h.
 */
#include "postgres.h"

#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"

#include "pg_compat/paths.h"
#include "pg_compat/planner.h"
#include "plan/plan.h"
#include "plan/plan_estimate_private.h"
#include "plan/plan_node.h"
#include "plan/plan_replace_private.h"
#include "settings.h"

/* ---------- telling why a sort is left to PostgreSQL ---------- */

/*
 * Each such sort gets a message of level DEBUG1, and so does a hash table where a sort might have
 * been.  An aggregate sorts within itself, without a Sort node, for DISTINCT and ORDER BY of its
 * arguments, for ordered sets, and between grouping sets.
 */

void
gpusort_tell_left(const Sort *sort, const char *name, const char *reason)
{
	if (name == NULL)
		name = IsA(sort, IncrementalSort) ? "an incremental sort" : "a sort";
	ereport(DEBUG1,
			(errmsg_internal("gpusort leaves %s of %.0f estimated rows to PostgreSQL: %s",
							 name, sort->plan.plan_rows, reason)));
}

/*
 * Makes a Sort of an Agg's input by the columns that it groups by; returns NULL if these have no
 * order.
 */
static Sort *
sort_for_groups(const Agg *agg)
{
	Sort	   *sort = makeNode(Sort);

	sort->plan = *agg->plan.lefttree;
	NodeSetTag(sort, T_Sort);
	sort->plan.lefttree = agg->plan.lefttree;
	sort->numCols = agg->numCols;
	sort->sortColIdx = agg->grpColIdx;
	sort->sortOperators = palloc(agg->numCols * sizeof(Oid));
	sort->collations = agg->grpCollations;
	sort->nullsFirst = palloc0(agg->numCols * sizeof(bool));
	for (int i = 0; i < agg->numCols; i++)
	{
		sort->sortOperators[i] = get_ordering_op_for_equality_op(agg->grpOperators[i], false);
		if (!OidIsValid(sort->sortOperators[i]))
			return NULL;
	}
	return sort;
}

/*
 * Returns why an Agg hashes, or NULL if it does not; *sort is as in gpusort_reason_for_hashing().
 */
static const char *
reason_of_agg(const Agg *agg, const PlannedStmt *stmt, Sort **sort)
{
	GpuSortLimit limit = {.rows = GPUSORT_NO_LIMIT};
	GpuSortEstimate estimate;
	const char *reason;

	if (agg->aggstrategy == AGG_MIXED)
		return "grouping sets of which some are hashed";
	if (agg->aggstrategy != AGG_HASHED || agg->numCols == 0)
		return NULL;
	*sort = sort_for_groups(agg);
	if (*sort == NULL)
		return "the columns that are grouped by have no order";
	reason = gpusort_reason_to_leave(*sort, limit, stmt, &estimate);
	return reason != NULL ? reason : "a hash table is estimated to cost less";
}

const char *
gpusort_reason_for_hashing(const Plan *plan, const PlannedStmt *stmt, Sort **sort)
{
	*sort = NULL;
	if (!gpusort_enable_order_by || plan->lefttree == NULL ||
		plan->lefttree->plan_rows < gpusort_min_rows)
		return NULL;
	switch (nodeTag(plan))
	{
		case T_Agg:
			return reason_of_agg((const Agg *) plan, stmt, sort);
		case T_HashJoin:
			return "a hash join is estimated to cost less";
		case T_SetOp:
			return ((const SetOp *) plan)->strategy == SETOP_HASHED
				? "a hash table is estimated to cost less" : NULL;
		case T_RecursiveUnion:
			return ((const RecursiveUnion *) plan)->numCols > 0
				? "a recursive query looks its rows up while it goes on" : NULL;
		default:
			return NULL;
	}
}

void
gpusort_tell_hashed(const Plan *plan, const PlannedStmt *stmt)
{
	const char *reason;
	Sort	   *sort;

	if (!message_level_is_interesting(DEBUG1))
		return;
	reason = gpusort_reason_for_hashing(plan, stmt, &sort);
	if (reason != NULL)
		ereport(DEBUG1,
				(errmsg_internal("gpusort leaves a hash table of %.0f estimated rows to PostgreSQL: %s",
								 plan->lefttree->plan_rows, reason)));
}

/* Returns whether an expression has an aggregate that sorts its arguments. */
static bool
sorts_arguments(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Aggref))
	{
		const Aggref *aggref = (const Aggref *) node;

		return (aggref->aggdistinct != NIL || aggref->aggorder != NIL) &&
			!gpusort_is_presorted(aggref);
	}
	return expression_tree_walker(node, sorts_arguments, context);
}

List *
gpusort_reasons_inside(const Agg *agg)
{
	List	   *reasons = NIL;
	ListCell   *lc;

	if (sorts_arguments((Node *) agg->plan.targetlist, NULL) ||
		sorts_arguments((Node *) agg->plan.qual, NULL))
		reasons = lappend(reasons, "each group's arguments are sorted by themselves");
	foreach(lc, agg->chain)
	{
		if (((const Plan *) lfirst(lc))->lefttree != NULL)
			reasons = lappend(reasons, "grouping sets that have no order in common");
	}
	return reasons;
}

void
gpusort_tell_left_inside(const Agg *agg)
{
	ListCell   *lc;

	if (!message_level_is_interesting(DEBUG1))
		return;
	foreach(lc, gpusort_reasons_inside(agg))
		ereport(DEBUG1,
				(errmsg_internal("gpusort leaves sorts inside an aggregate of %.0f estimated rows to PostgreSQL: %s",
								 agg->plan.lefttree->plan_rows, (const char *) lfirst(lc))));
}

/* ---------- looking at sorts ---------- */

/* The reasons that a setting would change. */
static const struct
{
	const char *reason;
	const char *setting;
}			settings[] = {
	{"gpusort.enabled is off", "gpusort.enabled"},
	{"gpusort.enable_order_by is off", "gpusort.enable_order_by"},
	{"gpusort.enable_index_build is off", "gpusort.enable_index_build"},
	{"fewer rows estimated than gpusort.min_rows", "gpusort.min_rows"},
	{"rows estimated not to fit into work_mem * hash_mem_multiplier", "gpusort.pool_size"},
	{"rows estimated not to fit into work_mem * hash_mem_multiplier and gpusort.pool_quota",
	"gpusort.enable_spill"},
	{"rows estimated not to fit into what is free of the pool", "gpusort.enable_spill"},
	{"tuples estimated not to fit into maintenance_work_mem and the pool", "gpusort.enable_spill"},
	{"tuples estimated not to fit into what is free of the pool", "gpusort.enable_spill"},
	{"estimated to cost more than PostgreSQL's sort", "gpusort.cost_row"},
	{"estimated to cost more than sorting group by group", "gpusort.cost_row"},
	{"estimated to cost more than merging what is sorted", "gpusort.cost_row"},
	{"a hash table is estimated to cost less", "gpusort.cost_row"},
	{"a hash join is estimated to cost less", "gpusort.cost_row"},
};

const char *
gpusort_setting_for(const char *reason)
{
	for (int i = 0; i < lengthof(settings); i++)
		if (strcmp(reason, settings[i].reason) == 0)
			return settings[i].setting;
	return NULL;
}

GpuSortLook *
gpusort_look_at_plan(const Plan *plan, const Sort *sort, GpuSortKind kind, const char *reason)
{
	GpuSortLook *look = palloc0(sizeof(GpuSortLook));

	look->plan = plan;
	look->sort = sort;
	look->kind = kind;
	look->reason = reason;
	return look;
}

static void
note_costs(GpuSortLook *look, Cost core_cost, Cost cost)
{
	look->has_costs = true;
	look->core_cost = core_cost;
	look->cost = cost;
}

GpuSortLook *
gpusort_look_at_left(const Sort *sort, GpuSortLimit limit, const PlannedStmt *stmt,
					 const char *reason, const GpuSortEstimate *estimate)
{
	GpuSortLook *look = gpusort_look_at_plan(&sort->plan, sort, limit.kind, reason);

	if (estimate != NULL && IsA(sort, IncrementalSort))
		note_costs(look, sort->plan.total_cost - sort->plan.lefttree->total_cost,
				   estimate->startup_cost + estimate->run_cost);
	else if (estimate != NULL)
	{
		note_costs(look, gpusort_core_cost(sort, estimate, stmt->rtable),
				   gpusort_cost_until(estimate, sort->plan.plan_rows, limit.rows));
		look->lacking = look->core_cost -
			(sort->plan.total_cost - sort->plan.lefttree->total_cost);
	}
	return look;
}

/* Returns what the hash table of an Agg costs beyond the planner's estimate. */
static Cost
lacking_of_agg(const Agg *agg)
{
	const Plan *input = agg->plan.lefttree;
	GpuSortGroups groups = {
		.rows = input->plan_rows, .groups = (double) agg->numGroups, .width = agg->plan.plan_width,
		.columns = agg->numCols
	};

	for (int i = 0; i < agg->numCols; i++)
	{
		const TargetEntry *column = list_nth_node(TargetEntry, input->targetlist,
												  agg->grpColIdx[i] - 1);

		if (!get_typbyval(exprType((Node *) column->expr)))
			groups.references++;
	}
	return gpusort_hash_extra_cost(&groups, 1);
}

/* Returns the same of a hash join, apart from what the planner charges for hashing. */
static Cost
lacking_of_join(const HashJoin *join)
{
	const Plan *outer = join->join.plan.lefttree;
	const Plan *inner = join->join.plan.righttree;

	return gpusort_hash_join_cost(outer->plan_rows, inner->plan_rows, inner->plan_width) -
		gpusort_hash_join_charge(outer->plan_rows, inner->plan_rows);
}

GpuSortLook *
gpusort_look_at_hashing(const Plan *plan, const Sort *sort, const char *reason)
{
	GpuSortKind kind = IsA(plan, Agg) ? GPUSORT_KIND_GROUP :
		IsA(plan, HashJoin) ? GPUSORT_KIND_JOIN : GPUSORT_KIND_SET_OPERATION;
	GpuSortLook *look = gpusort_look_at_plan(plan, sort, kind, reason);

	if (IsA(plan, Agg) && ((const Agg *) plan)->aggstrategy == AGG_HASHED)
		look->lacking = lacking_of_agg((const Agg *) plan);
	else if (IsA(plan, HashJoin))
		look->lacking = lacking_of_join((const HashJoin *) plan);
	return look;
}

/*
 * What PostgreSQL's sort would have cost is not in the plan, so it is estimated.  A sort in which
 * several processes take part is compared by what it costs one of them alone.
 */
GpuSortLook *
gpusort_look_at_node(const CustomScan *scan, GpuSortLimit limit, const PlannedStmt *stmt)
{
	Sort	   *sort = gpusort_make_sort(scan);
	GpuSortLook *look = gpusort_look_at_plan(&scan->scan.plan, sort, gpusort_kind_of(scan), NULL);
	double		rows = sort->plan.plan_rows;
	GpuSortEstimate estimate = {0};

	(void) gpusort_reason_to_leave(sort, limit, stmt, &estimate);
	if (estimate.memory_bytes > 0)
		note_costs(look, estimate.core_extra_cost +
				   gpusort_core_sort_cost(NULL, NIL, rows, sort->plan.lefttree->plan_width),
				   gpusort_cost_until(&estimate, rows, limit.rows));
	return look;
}
