/*
 * plan_sort_early.c
 *		GpuSort paths of a table below joins, for an ORDER BY with a LIMIT.
 *
 * Where the first rows of a join are wanted, in the order of one table's columns, the planner joins all
 * rows and sorts the result, unless an index delivers the order: it never sorts a table by what the query
 * wants in the end.  Sorting that table first costs less than most joins, and then a nested loop, which keeps
 * the order, joins no more rows than are wanted.
 *
 * No path is made where a single table is read, which is sorted on top (plan_order_by.c), or
 * where all rows are wanted: the planner would compare these paths at each level of joins, and a sort on top
 * costs about as much.
 */
#include "postgres.h"

#include "optimizer/pathnode.h"
#include "optimizer/paths.h"

#include "cost/cost.h"
#include "pg_compat/paths.h"
#include "plan/plan_slices.h"
#include "plan/plan_sort_early.h"
#include "plan/plan_sorted.h"
#include "settings.h"

/* Are the columns of the order this relation's, or can they be computed of these? */
static bool
can_be_ordered(PlannerInfo *root, RelOptInfo *rel)
{
	ListCell   *lc;

	foreach(lc, root->query_pathkeys)
	{
		if (!relation_can_be_sorted_early(root, rel, lfirst_node(PathKey, lc)->pk_eclass, false))
			return false;
	}
	return true;
}

void
gpusort_add_early_paths(PlannerInfo *root, RelOptInfo *rel)
{
	const Path *cheapest;

	/* most queries end here */
	if (root->limit_tuples <= 0 || root->query_pathkeys == NIL || rel->pathlist == NIL ||
		rel->reloptkind != RELOPT_BASEREL || (!gpusort_force && rel->rows < gpusort_min_rows) ||
		bms_membership(root->all_baserels) != BMS_MULTIPLE ||
		!bms_is_empty(rel->lateral_relids) || !can_be_ordered(root, rel))
		return;
	set_cheapest(rel);			/* the planner does so when we are done */
	cheapest = rel->cheapest_total_path;
	if (cheapest->param_info != NULL ||
		pathkeys_contained_in(root->query_pathkeys, cheapest->pathkeys))
		return;
	gpusort_add_paths(rel, gpusort_make_sorted_paths(root, rel, rel, root->query_pathkeys,
													 GPUSORT_NO_LIMIT));
}
