/*
 * plan_collect.c
 *		Making the plan nodes of a GpuSort whose rows participants collect; see
 *		plan_collect.h.
 */
#include "postgres.h"

#include "plan/plan_collect.h"

CustomScan *
gpusort_make_collect(const Sort *sort)
{
	return gpusort_make_node(GPUSORT_COLLECT_NODE, sort, 0);
}

CustomScan *
gpusort_make_gathered(Gather *gather)
{
	CustomScan *collect = castNode(CustomScan, gather->plan.lefttree);
	CustomScan *scan = makeNode(CustomScan);

	gather->plan.targetlist = copyObject(collect->scan.plan.targetlist);
	*scan = *collect;
	scan->methods = gpusort_node_methods(GPUSORT_NODE);
	scan->flags = GPUSORT_NODE_FLAGS;
	scan->scan.plan.targetlist = copyObject(collect->scan.plan.targetlist);
	scan->scan.plan.lefttree = &gather->plan;
	scan->custom_scan_tlist = copyObject(collect->custom_scan_tlist);
	return scan;
}

bool
gpusort_is_collect_gather(const Plan *plan)
{
	return IsA(plan, Gather) && gpusort_is_node(plan->lefttree, GPUSORT_COLLECT_NODE);
}

Gather *
gpusort_find_gather(const CustomScan *scan)
{
	Plan	   *child = scan->scan.plan.lefttree;

	return gpusort_is_collect_gather(child) ? (Gather *) child : NULL;
}

/* The Gather returns the columns of its child, so it does not project. */
void
gpusort_reference_gathered(Gather *gather)
{
	gather->plan.targetlist = gpusort_reference_columns(gather->plan.lefttree, OUTER_VAR);
}

Plan *
gpusort_make_gather_merge(const CustomScan *scan)
{
	Gather	   *gather = gpusort_find_gather(scan);
	Sort	   *sort = gpusort_make_sort((CustomScan *) gather->plan.lefttree);
	GatherMerge *merge = makeNode(GatherMerge);

	sort->plan.parallel_aware = false;
	sort->plan.plan_rows = sort->plan.lefttree->plan_rows;

	merge->plan = scan->scan.plan;
	NodeSetTag(merge, T_GatherMerge);
	merge->plan.targetlist = scan->custom_scan_tlist;
	merge->plan.lefttree = &sort->plan;
	merge->num_workers = gather->num_workers;
	merge->rescan_param = gather->rescan_param;
	merge->initParam = gather->initParam;
	merge->numCols = sort->numCols;
	merge->sortColIdx = sort->sortColIdx;
	merge->sortOperators = sort->sortOperators;
	merge->collations = sort->collations;
	merge->nullsFirst = sort->nullsFirst;
	return &merge->plan;
}
