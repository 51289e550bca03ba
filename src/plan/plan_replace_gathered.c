/*
 * plan_replace_gathered.c
 *		Sorts of finished plans whose rows are collected by parallel workers.
 *
 * Sorts that the planner puts into plans by itself (below WindowAgg, Unique, a merge join, in
 * subqueries) get their rows from workers in one of two ways:
 *
 *		Gather Merge -> Sort -> partial plan
 *		Sort -> Gather -> partial plan
 *
 * A GpuSort that the planner has chosen may stand above a Gather, too, if rows through a Gather
 * cost next to nothing by its settings.  All of these pass each row through a queue.  They become
 * what plan_sorted.c makes of an ORDER BY, with nodes that are not in their final form
 * yet, like those of a path:
 *
 *		GpuSort -> Gather -> GpuSort Collect -> partial plan
 *
 * The planner has no say in this, so the sort must be worth it by our own estimate: the pool must
 * suffice, and the cost must be below that of the plan as it stands, whose Sort may still be taken
 * over by itself.
 *
 * What the executor needs to know about a plan has been computed by now, and stays true for these
 * nodes:
 *
 *	Parameters	A parallel-aware node depends on its Gather's rescan parameter, which is therefore
 *				in extParam and allParam from that node up to the one below the Gather.  GpuSort
 *				Collect takes the sets of the node that was in its place, which have the parameter,
 *				since a partial plan shares out its rows by a parallel-aware node.  A new Gather has
 *				the same sets, less the rescan parameter.
 *	Initplans	They stay with the uppermost node.  A Gather's initParam, which has those that
 *				workers use, is the Gather Merge's.
 *	Node ids	They name a node's share of dynamic shared memory, so new nodes get new ones.
 *	Columns		GpuSort and Gather return what the partial plan returns.  A Gather Merge that does
 *				not, for example since it leaves out a sort expression, becomes a Result above them.
 *				A Gather that does not, as a rule since it evaluates the sort's expressions, is left
 *				alone.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "optimizer/optimizer.h"

#include "plan/plan_estimate_private.h"
#include "plan/plan_node.h"
#include "plan/plan_replace_private.h"
#include "settings.h"
#include "sort/sort.h"

/* A sort as it stands in the plan, and as it would be. */
typedef struct Candidate
{
	/* the nodes as they stand */
	const Sort *sort;			/* sorts a worker's rows, or all rows above the Gather */
	const Gather *gather;		/* the Gather below the Sort, or NULL */
	int			workers;
	int			rescan_param;
	Bitmapset  *init_param;
	Cost		gathered_cost;	/* cost of all nodes but the Sort */

	/* what all of them would be: a Sort of all rows, straight above the partial plan */
	Sort		whole;
	GpuSortEstimate estimate;

	/* what the new nodes cost, with their input */
	Cost		collect_cost;	/* of the GpuSort Collect */
	Cost		gather_cost;	/* of the Gather */
	Cost		startup_cost;	/* of the GpuSort */
	Cost		total_cost;
} Candidate;

/* ---------- node ids ---------- */

static void note_node_ids(const Plan *plan, int *last);

static void
note_node_ids_of_list(const List *plans, int *last)
{
	ListCell   *lc;

	foreach(lc, plans)
		note_node_ids((const Plan *) lfirst(lc), last);
}

static void
note_node_ids(const Plan *plan, int *last)
{
	if (plan == NULL)
		return;
	check_stack_depth();
	*last = Max(*last, plan->plan_node_id);
	switch (nodeTag(plan))
	{
		case T_Append:
			note_node_ids_of_list(((const Append *) plan)->appendplans, last);
			break;
		case T_MergeAppend:
			note_node_ids_of_list(((const MergeAppend *) plan)->mergeplans, last);
			break;
		case T_BitmapAnd:
			note_node_ids_of_list(((const BitmapAnd *) plan)->bitmapplans, last);
			break;
		case T_BitmapOr:
			note_node_ids_of_list(((const BitmapOr *) plan)->bitmapplans, last);
			break;
		case T_SubqueryScan:
			note_node_ids(((const SubqueryScan *) plan)->subplan, last);
			break;
		case T_CustomScan:
			note_node_ids_of_list(((const CustomScan *) plan)->custom_plans, last);
			break;
		default:
			break;
	}
	note_node_ids(plan->lefttree, last);
	note_node_ids(plan->righttree, last);
}

/* Returns an id that no node of the statement has. */
static int
new_node_id(GpuSortStatement *statement)
{
	if (statement->last_node_id == 0)
	{
		note_node_ids(statement->stmt->planTree, &statement->last_node_id);
		note_node_ids_of_list(statement->stmt->subplans, &statement->last_node_id);
	}
	return ++statement->last_node_id;
}

/* ---------- whether ---------- */

/* Returns whether a node's columns are those of the node below, one to one. */
static bool
returns_childs_columns(const Plan *plan)
{
	ListCell   *lc;

	if (plan->qual != NIL ||
		list_length(plan->targetlist) != list_length(plan->lefttree->targetlist))
		return false;
	foreach(lc, plan->targetlist)
	{
		const Var  *var = (const Var *) lfirst_node(TargetEntry, lc)->expr;

		if (!IsA(var, Var) || var->varno != OUTER_VAR ||
			var->varattno != foreach_current_index(lc) + 1)
			return false;
	}
	return true;
}

/*
 * Returns whether a plan is of one of the two kinds, and fills in everything but the estimate and
 * the costs of the new nodes.  A GpuSort that the planner has put above a Gather of its own is
 * treated like a Sort.
 */
static bool
find_candidate(Plan *plan, Candidate *candidate)
{
	Plan	   *child = plan->lefttree;

	if (gpusort_is_node(plan, GPUSORT_NODE) && IsA(child, Gather) &&
		!gpusort_is_collect_gather(child))
		plan = &gpusort_make_sort((CustomScan *) plan)->plan;

	memset(candidate, 0, sizeof(*candidate));
	if (IsA(plan, GatherMerge) && IsA(child, Sort))
	{
		const GatherMerge *merge = (const GatherMerge *) plan;

		candidate->sort = (const Sort *) child;
		candidate->workers = merge->num_workers;
		candidate->rescan_param = merge->rescan_param;
		candidate->init_param = merge->initParam;
		candidate->gathered_cost = plan->total_cost -
			(child->total_cost - child->lefttree->total_cost);
	}
	else if (IsA(plan, Sort) && IsA(child, Gather) && !((Gather *) child)->single_copy &&
			 returns_childs_columns(child))
	{
		candidate->sort = (const Sort *) plan;
		candidate->gather = (const Gather *) child;
		candidate->workers = candidate->gather->num_workers;
		candidate->rescan_param = candidate->gather->rescan_param;
		candidate->init_param = candidate->gather->initParam;
		candidate->gathered_cost = child->total_cost;
	}
	else
		return false;

	candidate->whole = *candidate->sort;
	candidate->whole.plan = *plan;
	NodeSetTag(&candidate->whole, T_Sort);
	candidate->whole.plan.targetlist = candidate->sort->plan.targetlist;
	candidate->whole.plan.lefttree = child->lefttree;
	return candidate->workers > 0;
}

/* Returns what the Sort will cost as it stands, by PostgreSQL or by us. */
static Cost
cost_of_sort(const Sort *sort, GpuSortLimit limit, const PlannedStmt *stmt)
{
	GpuSortEstimate estimate;
	const char *reason = gpusort_reason_to_leave(sort, limit, stmt, &estimate);
	Cost		core = gpusort_core_cost(sort, &estimate, stmt->rtable);

	return reason != NULL ? core : Min(core, estimate.startup_cost + estimate.run_cost);
}

/* Computes the costs as gpusort_make_gathered_paths() does. */
static void
estimate_costs(Candidate *candidate)
{
	const Plan *partial = candidate->whole.plan.lefttree;
	const GpuSortEstimate *estimate = &candidate->estimate;
	double		all_rows = candidate->whole.plan.plan_rows;

	candidate->collect_cost =
		gpusort_participants_cost(estimate, partial->total_cost, partial->plan_rows, all_rows);
	candidate->gather_cost = candidate->collect_cost + parallel_setup_cost;
	gpusort_gathered_costs(estimate, candidate->gather_cost, all_rows, &candidate->startup_cost,
						   &candidate->total_cost);
}

static bool
is_worth_it(Candidate *candidate, GpuSortLimit limit, const PlannedStmt *stmt)
{
	GpuSortLimit limit_of_sort = {limit.rows, limit.is_told && candidate->gather != NULL};

	if (gpusort_reason_to_leave(&candidate->whole, limit, stmt, &candidate->estimate) != NULL)
		return false;
	estimate_costs(candidate);
	return gpusort_force ||
		(gpusort_cost_pool_suffices(&candidate->estimate, candidate->workers + 1) &&
		 candidate->total_cost < candidate->gathered_cost +
		 cost_of_sort(candidate->sort, limit_of_sort, stmt));
}

/* ---------- the new nodes ---------- */

static CustomScan *
make_collect(const Candidate *candidate, GpuSortStatement *statement)
{
	const Plan *partial = candidate->whole.plan.lefttree;
	Sort		sort = *candidate->sort;
	CustomScan *collect;
	Plan	   *plan;

	if (candidate->gather != NULL)
	{
		sort.plan = *partial;
		NodeSetTag(&sort, T_Sort);
		sort.plan.plan_node_id = new_node_id(statement);
		sort.plan.qual = NIL;
		sort.plan.initPlan = NIL;
		sort.plan.lefttree = candidate->whole.plan.lefttree;
		sort.plan.righttree = NULL; /* belongs to a join, and stays below it */
	}
	collect = gpusort_make_collect(&sort);
	plan = &collect->scan.plan;
	plan->startup_cost = plan->total_cost = candidate->collect_cost;
	plan->plan_rows = 0;
	plan->parallel_aware = true;
	return collect;
}

static Gather *
make_gather(const Candidate *candidate, CustomScan *collect, GpuSortStatement *statement)
{
	const Plan *below = &collect->scan.plan;
	Gather	   *gather = makeNode(Gather);
	Plan	   *plan = &gather->plan;

	if (candidate->gather != NULL)
		*gather = *candidate->gather;
	else
	{
		*plan = candidate->whole.plan;
		NodeSetTag(gather, T_Gather);
		plan->plan_node_id = new_node_id(statement);
		plan->initPlan = NIL;
		plan->extParam = bms_del_member(bms_copy(below->extParam), candidate->rescan_param);
		plan->allParam = bms_del_member(bms_copy(below->allParam), candidate->rescan_param);
		gather->num_workers = candidate->workers;
		gather->rescan_param = candidate->rescan_param;
		gather->initParam = candidate->init_param;
	}
	plan->startup_cost = candidate->gather_cost;
	plan->total_cost = candidate->gather_cost;
	plan->plan_rows = 0;
	plan->targetlist = copyObject(below->targetlist);
	plan->lefttree = &collect->scan.plan;
	return gather;
}

/* Makes a node above all others that returns a Gather Merge's columns, which it evaluates. */
static Plan *
make_result(const GatherMerge *merge, CustomScan *scan, GpuSortStatement *statement)
{
	Result	   *result = makeNode(Result);
	Plan	   *plan = &scan->scan.plan;
	const Plan *below = plan->lefttree;

	result->plan = *plan;
	NodeSetTag(result, T_Result);
	result->plan.targetlist = merge->plan.targetlist;
	result->plan.lefttree = plan;
	plan->plan_node_id = new_node_id(statement);
	plan->initPlan = NIL;
	plan->extParam = bms_copy(below->extParam);
	plan->allParam = bms_copy(below->allParam);
	return &result->plan;
}

Plan *
gpusort_replace_gathered_sort(Plan *plan, GpuSortLimit limit, GpuSortStatement *statement)
{
	Candidate	candidate;
	CustomScan *scan;

	if (!statement->take_over || !find_candidate(plan, &candidate) || !gpusort_enable_order_by ||
		!gpusort_enable_parallel_collect || gpusort_sort_pool_limit() == 0 ||
		!is_worth_it(&candidate, limit, statement->stmt))
		return plan;

	scan = gpusort_make_node(GPUSORT_NODE, &candidate.whole, GPUSORT_NODE_FLAGS);
	scan->scan.plan.startup_cost = candidate.startup_cost;
	scan->scan.plan.total_cost = candidate.total_cost;
	scan->scan.plan.lefttree = (Plan *)
		make_gather(&candidate, make_collect(&candidate, statement), statement);
	if (IsA(plan, Sort))
		return &scan->scan.plan;
	if (IsA(plan, GatherMerge) && !returns_childs_columns(plan))
		return make_result((GatherMerge *) plan, scan, statement);
	scan->scan.plan.targetlist = plan->targetlist;
	return &scan->scan.plan;
}
