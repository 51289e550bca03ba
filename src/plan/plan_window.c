/*
 * plan_window.c
 *		Window functions above a GpuSort, and in parallel workers.
 *
 * The planner computes window functions in the leader only, since a worker would see only some rows
 * of each partition.  If the workers' rows are sorted together and dealt out in slices that cut no
 * partition (plan_paths_private.h), each worker computes whole partitions.  The cheapest path that
 * the planner has made for the windows is copied for that.
 *
 * Every window must be partitioned by the columns that slices are made by.  Sorts between
 * WindowAggs are each worker's own, since a slice has all rows of a partition.
 *
 * WindowFuncs are parallel restricted in the planner's eyes, because another worker might get other
 * results for rows whose order is not determined.  Here only one worker looks at each row.  So
 * expressions are checked with the WindowFuncs taken out, but for their arguments, and these by
 * their functions' own marking.
 *
 * Without ORDER BY, LIMIT and DISTINCT the path may end up in a larger partial plan, for example
 * below the partial aggregation of an outer query; otherwise a Gather is put on top.
 */
#include "postgres.h"

#include "catalog/pg_proc.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "utils/lsyscache.h"

#include "pg_compat/planner.h"
#include "plan/plan_paths_private.h"
#include "settings.h"

/*
 * What a WindowAgg costs a row beyond the planner's estimate of about 0.02: it puts the row into a
 * tuplestore and takes it out again, 200 to 310 ns in all (docs/performance.md, "Sorts that workers
 * make together").
 */
#define WINDOW_COST_ROW 0.08

/* ---------- the planner's path ---------- */

/* Returns the WindowAgg below a WindowAgg, or NULL if it is the lowest. */
static const WindowAggPath *
next_window(const WindowAggPath *window)
{
	const Path *below = gpusort_below_sort(window->subpath);

	return IsA(below, WindowAggPath) ? (const WindowAggPath *) below : NULL;
}

/* Returns the planner's cheapest path for the windows, or NULL. */
static const WindowAggPath *
find_cheapest(const RelOptInfo *window_rel)
{
	const WindowAggPath *cheapest = NULL;
	ListCell   *lc;

	foreach(lc, window_rel->pathlist)
	{
		const Path *path = (const Path *) lfirst(lc);

		if (IsA(path, WindowAggPath) &&
			(cheapest == NULL || path->total_cost < cheapest->path.total_cost))
			cheapest = (const WindowAggPath *) path;
	}
	return cheapest;
}

/* ---------- whether ---------- */

/*
 * Returns an expression without its WindowFuncs, and sets *safe to false if one of these may not
 * run in workers.
 */
static Node *
take_window_functions_away(Node *node, bool *safe)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, WindowFunc))
	{
		WindowFunc *function = (WindowFunc *) node;

		if (func_parallel(function->winfnoid) != PROPARALLEL_SAFE)
			*safe = false;
		return (Node *) list_make2(function->args, function->aggfilter);
	}
	return expression_tree_mutator(node, take_window_functions_away, safe);
}

static bool
is_safe(PlannerInfo *root, void *expression)
{
	bool		safe = true;
	Node	   *rest = take_window_functions_away((Node *) expression, &safe);

	return safe && is_parallel_safe(root, rest);
}

/*
 * Returns whether workers can evaluate all that this window and those below it evaluate.  A
 * window's qual has nothing but run conditions of those below.
 */
static bool
are_windows_safe(PlannerInfo *root, const WindowAggPath *window)
{
	for (; window != NULL; window = next_window(window))
	{
		if (!is_safe(root, window->path.pathtarget->exprs) ||
			!is_safe(root, window->winclause->startOffset) ||
			!is_safe(root, window->winclause->endOffset) ||
			!is_safe(root, gpusort_run_condition(window)))
			return false;
	}
	return true;
}

/* Returns how many leading columns of the lowest sort all windows are partitioned by. */
static int
count_slice_columns(PlannerInfo *root, const WindowAggPath *window)
{
	List	   *pathkeys = root->window_pathkeys;
	int			columns = list_length(pathkeys);

	for (; window != NULL; window = next_window(window))
		columns = Min(columns, gpusort_count_leading_keys(root, window->winclause->partitionClause,
														  pathkeys));
	return columns;
}

static int
count_windows(const WindowAggPath *window)
{
	int			count = 0;

	for (; window != NULL; window = next_window(window))
		count++;
	return count;
}

/* ---------- how ---------- */

/* Sorts a window's input if necessary, as the planner does. */
static Path *
sort_for_window(const GpuSortSlices *slices, Path *input, const WindowClause *clause)
{
	PlannerInfo *root = slices->root;
	List	   *columns = list_concat_copy(clause->partitionClause, clause->orderClause);
	List	   *pathkeys = make_pathkeys_for_sortclauses(root, columns, root->processed_tlist);
	int			presorted;

	if (pathkeys_count_contained_in(pathkeys, input->pathkeys, &presorted))
		return input;
	if (presorted > 0 && enable_incremental_sort)
		return (Path *) create_incremental_sort_path(root, slices->rel, input, pathkeys,
													 presorted, -1);
	return (Path *) create_sort_path(root, slices->rel, input, pathkeys, -1);
}

/* Copies a window and those below it, to stand above the shared sort. */
static Path *
copy_windows(const GpuSortSlices *slices, const void *original)
{
	const WindowAggPath *window = original;
	const WindowAggPath *below = next_window(window);
	WindowAggPath *copy = makeNode(WindowAggPath);
	Path	   *input = below != NULL ? copy_windows(slices, below) : slices->sort;

	*copy = *window;
	copy->subpath = sort_for_window(slices, input, window->winclause);
	gpusort_share_path(slices, &copy->path, window->subpath, copy->subpath);
	return &copy->path;
}

/*
 * Makes the paths above sorts of all rows.  Sorts in the planner's own path are taken over in the
 * finished plan, but it may have chosen a path with an index instead, an incremental sort, or
 * workers that sort.
 */
static List *
make_whole_paths(const GpuSortSlices *slices, RelOptInfo *input_rel)
{
	const Path *cheapest = input_rel->cheapest_total_path;
	List	   *pathkeys = slices->root->window_pathkeys;
	List	   *paths;
	ListCell   *lc;

	if (cheapest == NULL || (cheapest->rows < gpusort_min_rows && !gpusort_force) ||
		pathkeys_contained_in(pathkeys, cheapest->pathkeys))
		return NIL;
	paths = gpusort_make_whole_paths(slices, input_rel, pathkeys);
	foreach(lc, paths)
		((Path *) lfirst(lc))->parallel_safe = false;
	return paths;
}

/*
 * A path with a Gather is compared with windows in the leader, which the planner has charged too
 * little, so it is credited with what workers save of that.
 */
void
gpusort_add_window_paths(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *window_rel)
{
	const WindowAggPath *window = find_cheapest(window_rel);
	GpuSortGroupedRows windows = {.root = root, .rel = window_rel, .input_rel = input_rel};
	GpuSortSlices slices = {
		.root = root, .rel = window_rel, .make = copy_windows, .original = window,
		.saved_row_cost = WINDOW_COST_ROW * count_windows(window)
	};
	List	   *paths;
	List	   *sliced = NIL;
	Cost		cost = GPUSORT_NO_SLICES;

	if (window == NULL)
		return;
	paths = make_whole_paths(&slices, input_rel);
	if (gpusort_plans_shared() && input_rel->partial_pathlist != NIL &&
		are_windows_safe(root, window))
		sliced = gpusort_offer_sliced(&slices, input_rel, root->window_pathkeys,
									  count_slice_columns(root, window), &cost);
	gpusort_offer_paths(&windows, paths, sliced, cost);
}
