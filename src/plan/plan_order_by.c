/*
 * plan_order_by.c
 *		GpuSort paths for the query's ORDER BY, competing by cost.
 *
 * The paths are offered at UPPERREL_ORDERED beside the planner's own Sort: one
 * over the cheapest input, others over inputs that parallel workers read (plan_sorted.c).
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
 * The limit that the sort will be told: not if ties are wanted, too, nor through the node that
 * locks rows, which leaves out some; 0 if its value is not known yet.
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
 * Is the cheapest path of the input still there?  The planner adds those that are in order to the relation above as
 * they are, where add_path() may free them.  Others, one of which may be below a sort, are not freed.
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

/* Reading a table from its beginning, if that is all that the input is; or NULL. */
static Path *
make_scan(PlannerInfo *root, RelOptInfo *rel)
{
	const RangeTblEntry *rte = rel->reloptkind == RELOPT_BASEREL ? planner_rt_fetch(rel->relid, root) : NULL;

	if (rte == NULL || rte->rtekind != RTE_RELATION || rte->inh || rte->tablesample != NULL ||
		rel->fdwroutine != NULL || !bms_is_empty(rel->lateral_relids) || root->parse->hasTargetSRFs)
		return NULL;
	return create_seqscan_path(root, rel, NULL, 0);
}

/* Gathering what workers read of the input; or NULL. */
static Path *
make_gather(PlannerInfo *root, RelOptInfo *rel, double rows)
{
	Path	   *partial = rel->partial_pathlist != NIL ? linitial(rel->partial_pathlist) : NULL;

	return partial == NULL ? NULL
		: (Path *) create_gather_path(root, rel, partial, partial->pathtarget, NULL, &rows);
}

/* Something to sort, instead of the cheapest path that may have been freed; or NULL. */
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

	/* above set operations the planner keeps no targets, and the sort is taken over later */
	if (cheapest == NULL || target == NULL)
		return;
	input = is_still_there(ordered_rel, cheapest) ? cheapest : make_input(root, input_rel, ordered_rel);
	if (input == NULL || pathkeys_contained_in(root->sort_pathkeys, input->pathkeys))
		return;

	/* others find there what the planner has left */
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
