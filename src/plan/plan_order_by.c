/*
 * plan_order_by.c
 *		GpuSort paths for the query's ORDER BY, competing by cost.
 *
 * The paths are offered at UPPERREL_ORDERED beside the planner's own Sort: one over the cheapest
 * input, and others over inputs that parallel workers read (plan_sorted.c).
 */
#include "postgres.h"

#include "optimizer/cost.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "parser/parsetree.h"

#include "cost/cost.h"
#include "plan/plan_below.h"
#include "plan/plan_offer.h"
#include "plan/plan_order_by.h"
#include "plan/plan_sorted.h"

/*
 * Returns the limit that the sort will be told; 0 if its value is not known yet; and
 * GPUSORT_NO_LIMIT if there is none, if ties are wanted, too, or if rows are locked by a node that
 * may leave out some.
 */
static double
known_limit(const PlannerInfo *root)
{
	const Query *parse = root->parse;

	if (parse->limitOption == LIMIT_OPTION_WITH_TIES || parse->rowMarks != NIL)
		return GPUSORT_NO_LIMIT;
	if (root->limit_tuples < 0 && parse->limitCount != NULL && !IsA(parse->limitCount, Const))
		return 0;
	return root->limit_tuples;
}

/*
 * Returns whether the input's cheapest path is still there, and has not been freed.  The planner
 * adds paths that are in order to ordered_rel as they are, where add_path() may free them.  So the
 * path is sought in ordered_rel, itself or below a sort or projection.
 */
static bool
is_still_there(const RelOptInfo *ordered_rel, const Path *input)
{
	ListCell   *lc;

	foreach(lc, ordered_rel->pathlist)
	{
		Path	   *path = (Path *) lfirst(lc);

		if (path != input && IsA(path, ProjectionPath))
			path = gpusort_path_below(path);
		if (path != input)
			path = gpusort_below_sort(path);
		if (path == input)
			return true;
	}
	return false;
}

/* Makes a scan of a whole table, or returns NULL if that is not all that the input is. */
static Path *
make_scan(PlannerInfo *root, RelOptInfo *rel)
{
	const RangeTblEntry *rte = rel->reloptkind == RELOPT_BASEREL
		? planner_rt_fetch(rel->relid, root) : NULL;

	if (rte == NULL || rte->rtekind != RTE_RELATION || rte->inh || rte->tablesample != NULL ||
		rel->fdwroutine != NULL || !bms_is_empty(rel->lateral_relids) || root->parse->hasTargetSRFs)
		return NULL;
	return create_seqscan_path(root, rel, NULL, 0);
}

/* Makes a Gather of what workers read of the input, or returns NULL. */
static Path *
make_gather(PlannerInfo *root, RelOptInfo *rel, double rows)
{
	Path	   *partial = rel->partial_pathlist != NIL ? linitial(rel->partial_pathlist) : NULL;

	return partial == NULL ? NULL
		: (Path *) create_gather_path(root, rel, partial, partial->pathtarget, NULL, &rows);
}

/*
 * Makes a path to be sorted instead of the cheapest one, which may have been freed, or returns
 * NULL.
 */
static Path *
make_input(PlannerInfo *root, RelOptInfo *input_rel, const RelOptInfo *ordered_rel)
{
	Path	   *scan = make_scan(root, input_rel);
	Path	   *gather;

	if (ordered_rel->pathlist == NIL)
		return NULL;
	gather = make_gather(root, input_rel, ((const Path *) linitial(ordered_rel->pathlist))->rows);
	if (scan == NULL || gather == NULL)
		return scan != NULL ? scan : gather;
	return scan->total_cost < gather->total_cost ? scan : gather;
}

void
gpusort_add_order_by_paths(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *ordered_rel)
{
	Path	   *cheapest = input_rel->cheapest_total_path;
	PathTarget *target = root->upper_targets[UPPERREL_FINAL];
	Path	   *input;
	ListCell   *lc;
	List	   *paths;

	/* Above set operations the planner keeps no targets, and the sort is taken over later. */
	if (cheapest == NULL || target == NULL)
		return;
	input = is_still_there(ordered_rel, cheapest) ? cheapest
		: make_input(root, input_rel, ordered_rel);
	if (input == NULL || pathkeys_contained_in(root->sort_pathkeys, input->pathkeys))
		return;

	/*
	 * This is the input's cheapest path for this call only: others are to find there what the
	 * planner has left.
	 */
	input_rel->cheapest_total_path = input;
	paths = gpusort_make_sorted_paths(root, input_rel, ordered_rel, root->sort_pathkeys,
									  known_limit(root));
	input_rel->cheapest_total_path = cheapest;
	foreach(lc, paths)
	{
		Path	   *path = (Path *) lfirst(lc);

		if (path->pathtarget != target)
			path = apply_projection_to_path(root, ordered_rel, path, target);
		add_path(ordered_rel, path);
	}
}
