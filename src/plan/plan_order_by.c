/*
 * plan_order_by.c
 *		GpuSort paths for the query's ORDER BY, competing by cost.
 *
 * The paths are offered at UPPERREL_ORDERED beside the planner's own Sort: one
 * over the cheapest input, others over inputs that parallel workers read (plan_sorted.c).
 */
#include "postgres.h"

#include "optimizer/pathnode.h"
#include "optimizer/paths.h"

#include "cost/cost.h"
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

void
gpusort_add_order_by_paths(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *ordered_rel)
{
	const Path *input = input_rel->cheapest_total_path;
	PathTarget *target = root->upper_targets[UPPERREL_FINAL];
	ListCell   *lc;
	List	   *paths;

	/* above set operations the planner keeps no targets, and the sort is taken over later */
	if (input == NULL || target == NULL ||
		pathkeys_contained_in(root->sort_pathkeys, input->pathkeys))
		return;

	paths = gpusort_make_sorted_paths(root, input_rel, ordered_rel, root->sort_pathkeys,
									  known_limit(root));
	foreach(lc, paths)
	{
		Path	   *path = (Path *) lfirst(lc);

		if (path->pathtarget != target)
			path = apply_projection_to_path(root, ordered_rel, path, target);
		add_path(ordered_rel, path);
	}
}
