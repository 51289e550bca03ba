/*
 * plan_node.c
 *		Making a plan node of ours out of a Sort node; GpuSort Collect.
 *
 * The planner's own Sort node is the pattern for both ways to a GpuSort node: a path of ours has
 * create_sort_path() make one and takes its columns over, and the replacement of sorts in finished
 * plans finds one there.  So finding sort columns, resjunk entries and projections below the sort
 * is left to the planner.
 */
#include "postgres.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"

#include "plan/plan_node.h"

const CustomScanMethods *
gpusort_node_methods(const char *name)
{
	return GetCustomScanMethods(name, false);
}

bool
gpusort_is_custom_scan(const CustomScan *scan, const char *name)
{
	return scan->methods == gpusort_node_methods(name);
}

CustomScan *
gpusort_make_node(const char *name, const Sort *sort, uint32 flags)
{
	CustomScan *scan = makeNode(CustomScan);
	List	   *attnos = NIL;
	List	   *sortops = NIL;
	List	   *collations = NIL;
	List	   *nulls_first = NIL;

	for (int i = 0; i < sort->numCols; i++)
	{
		attnos = lappend_int(attnos, sort->sortColIdx[i]);
		sortops = lappend_oid(sortops, sort->sortOperators[i]);
		collations = lappend_oid(collations, sort->collations[i]);
		nulls_first = lappend_int(nulls_first, sort->nullsFirst[i]);
	}

	scan->scan.plan = sort->plan;
	NodeSetTag(scan, T_CustomScan);
	scan->scan.scanrelid = 0;
	scan->flags = flags;
	scan->custom_private = list_make5(attnos, sortops, collations, nulls_first, list_make1_int(0));
	scan->custom_private = lappend(scan->custom_private, list_make1_int(GPUSORT_KIND_OTHER));
	scan->custom_private = lappend(scan->custom_private, list_make1_int(0));
	scan->custom_scan_tlist = copyObject(sort->plan.targetlist);
	scan->methods = gpusort_node_methods(name);
	return scan;
}

void
gpusort_plan_copy_labels(List *to, const List *from)
{
	ListCell   *lc;
	ListCell   *lc2;

	if (list_length(to) != list_length(from))
		elog(ERROR, "gpusort: node and child disagree about their columns");
	forboth(lc, to, lc2, from)
	{
		TargetEntry *column = lfirst_node(TargetEntry, lc);
		const TargetEntry *named = lfirst_node(TargetEntry, lc2);

		column->resname = named->resname;
		column->ressortgroupref = named->ressortgroupref;
		column->resorigtbl = named->resorigtbl;
		column->resorigcol = named->resorigcol;
		column->resjunk = named->resjunk;
	}
}

List *
gpusort_reference_columns(const Plan *child, int varno)
{
	List	   *columns = NIL;
	ListCell   *lc;

	foreach(lc, child->targetlist)
	{
		TargetEntry *column = lfirst_node(TargetEntry, lc);
		TargetEntry *tle = flatCopyTargetEntry(column);

		tle->expr = (Expr *) makeVarFromTargetEntry(varno, column);
		columns = lappend(columns, tle);
	}
	return columns;
}

/*
 * The rows scanned refer to the child's target list, and the rows returned to the rows scanned, one
 * to one, so that the executor need not project.
 */
void
gpusort_reference_child(CustomScan *scan)
{
	List	   *scanned = gpusort_reference_columns(scan->scan.plan.lefttree, OUTER_VAR);
	List	   *returned = gpusort_reference_columns(scan->scan.plan.lefttree, INDEX_VAR);

	/* Take over labels that were put on the node itself, such as an INSERT's resnames. */
	gpusort_plan_copy_labels(returned, scan->scan.plan.targetlist);
	gpusort_plan_copy_labels(scanned, scan->scan.plan.targetlist);
	scan->custom_scan_tlist = scanned;
	scan->scan.plan.targetlist = returned;
}

Sort *
gpusort_make_sort(const CustomScan *scan)
{
	Sort	   *sort = makeNode(Sort);
	GpuSortSpec spec;

	gpusort_read_spec(scan, &spec);
	sort->plan = scan->scan.plan;
	NodeSetTag(sort, T_Sort);
	sort->plan.targetlist = scan->custom_scan_tlist;
	sort->numCols = spec.nkeys;
	sort->sortColIdx = spec.attnos;
	sort->sortOperators = spec.sortops;
	sort->collations = spec.collations;
	sort->nullsFirst = spec.nulls_first;
	return sort;
}

GpuSortKind
gpusort_kind_of(const CustomScan *scan)
{
	return linitial_int(list_nth(scan->custom_private, GPUSORT_PRIVATE_KIND));
}

void
gpusort_read_spec(const CustomScan *scan, GpuSortSpec *spec)
{
	List	   *attnos = list_nth(scan->custom_private, GPUSORT_PRIVATE_ATTNOS);
	List	   *sortops = list_nth(scan->custom_private, GPUSORT_PRIVATE_SORTOPS);
	List	   *collations = list_nth(scan->custom_private, GPUSORT_PRIVATE_COLLATIONS);
	List	   *nulls_first = list_nth(scan->custom_private, GPUSORT_PRIVATE_NULLS_FIRST);

	*spec = gpusort_make_spec(gpusort_kind_of(scan), list_length(attnos));
	spec->expected_rows = scan->scan.plan.plan_rows;
	for (int i = 0; i < spec->nkeys; i++)
	{
		spec->attnos[i] = (AttrNumber) list_nth_int(attnos, i);
		spec->sortops[i] = list_nth_oid(sortops, i);
		spec->collations[i] = list_nth_oid(collations, i);
		spec->nulls_first[i] = (bool) list_nth_int(nulls_first, i);
	}
}

void
gpusort_read_returned_spec(const CustomScan *scan, GpuSortSpec *spec)
{
	const List *attnos = list_nth(scan->custom_private, GPUSORT_PRIVATE_LATE);

	gpusort_read_spec(scan, spec);
	for (int i = 0; i < spec->nkeys && gpusort_is_late(scan); i++)
		spec->attnos[i] = (AttrNumber) list_nth_int(attnos, i);
}

bool
gpusort_is_late(const CustomScan *scan)
{
	return linitial_int(list_nth(scan->custom_private, GPUSORT_PRIVATE_LATE)) != 0;
}

bool
gpusort_tells_equal(const CustomScan *scan)
{
	return linitial_int(list_nth(scan->custom_private, GPUSORT_PRIVATE_EQUAL)) != 0;
}

void
gpusort_let_tell_equal(CustomScan *scan)
{
	lfirst(list_nth_cell(scan->custom_private, GPUSORT_PRIVATE_EQUAL)) = list_make1_int(1);
}

void
gpusort_set_kind(CustomScan *scan, GpuSortKind kind)
{
	lfirst(list_nth_cell(scan->custom_private, GPUSORT_PRIVATE_KIND)) = list_make1_int(kind);
}

/* ---------- GpuSort Collect, and the Gather above it ---------- */

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
