/*
 * plan_order_by.c
 *		GpuSort paths for the query's ORDER BY, competing by cost.
 *
 * The paths are offered at UPPERREL_ORDERED beside the planner's own Sort: one over the cheapest
 * input, and others over inputs that parallel workers read (plan_sorted.c).
 */
#include "postgres.h"

#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "parser/parsetree.h"

#include "cost/cost.h"
#include "pg_compat/paths.h"
#include "plan/plan_node.h"
#include "plan/plan_paths_private.h"
#include "settings.h"

/*
 * A path has its first row soon if that costs this part of what it costs a sort.  A sort, which has
 * read its input by then, never does, whoever makes it.
 */
#define FIRST_ROW_SOON	0.05

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

/*
 * Returns whether the rows come in order without a sort, by an index as a rule, for little enough
 * that the user would rather have the first row soon than all of them sooner
 * (gpusort.first_row_weight).  Where the planner knows that few rows are wanted it weighs that by
 * itself.
 */
static bool
first_row_is_preferred(const PlannerInfo *root, const RelOptInfo *ordered_rel, const Path *sorted)
{
	ListCell   *lc;

	if (gpusort_first_row_weight <= 1 || root->tuple_fraction > 0)
		return false;
	foreach(lc, ordered_rel->pathlist)
	{
		const Path *path = (const Path *) lfirst(lc);

		if (path->startup_cost <= FIRST_ROW_SOON * sorted->startup_cost &&
			path->total_cost <= gpusort_first_row_weight * sorted->total_cost)
			return true;
	}
	return false;
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

		if (first_row_is_preferred(root, ordered_rel, path))
			continue;
		if (path->pathtarget != target)
			path = apply_projection_to_path(root, ordered_rel, path, target);
		add_path(ordered_rel, path);
	}
}

/* ---------- with a LIMIT: paths of a table below joins ---------- */

/*
 * If the first rows of a join are wanted in the order of one table's columns, the planner joins all
 * rows and sorts the result, unless an index delivers the order or workers can sort the table: in
 * one process it never sorts a table below joins by what the query wants in the end.  Sorting that
 * table first costs less than most joins, and then a nested loop, which keeps the order, joins no
 * more rows than are wanted.
 *
 * No path is made if a single table is read, which is sorted on top (plan_order_by.c), or if all
 * rows are wanted: the planner would compare these paths at each level of joins, and a sort on top
 * costs about as much.
 */

/*
 * How many times as long as the cheapest path a nested loop above an early sort may take, run to
 * its end.
 *
 * If few rows have partners, the first rows may be all rows.  In that case a loop that reads its
 * inner side for each row takes a minute for what a hash join does in a second, a loop that looks
 * rows up by an index takes several times as long as the hash join, and the sort was for nothing.
 * How many rows have partners is a guess, as a rule.
 *
 * So no loop is kept that costs MOST_TIMES_AS_LONG times what a path costs that is not sorted, run
 * to its end.  Nor is a loop above another loop kept: it would be for nothing if few rows are left,
 * and other paths make that join later.  LATERAL subqueries are joined by loops only, so of their
 * loops those are kept that take much longer than the sort.  In a left join, or with one row of
 * aggregates, each row counts, and the loop ends where it was expected to, so it may take
 * MOST_TIMES_OF_ALL_ROWS times as long.
 *
 * The planner itself makes such loops above tables that workers can sort, and those that it would
 * choose are kept.
 */
#define MOST_TIMES_AS_LONG			1.02
#define MOST_TIMES_OF_ALL_ROWS		16
#define MOST_TIMES_IF_FORCED		1.5

/* The ratio from which on add_path() does not take costs for the same. */
#define MORE_THAN_THE_SAME	1.011

/*
 * Returns whether computing a member of a class might fail, or leak what rows have.  Rows that no
 * join wants are sorted, too, so nothing of that kind may be computed for the sort: ORDER BY 1 / a,
 * for example, if joins leave out the rows whose a is 0.
 */
static bool
can_fail(const RelOptInfo *rel, const EquivalenceClass *ec)
{
	ListCell   *lc;

	foreach(lc, ec->ec_members)
	{
		const EquivalenceMember *member = lfirst_node(EquivalenceMember, lc);

		if (bms_is_subset(member->em_relids, rel->relids) &&
			contain_leaked_vars((Node *) member->em_expr))
			return true;
	}
	return false;
}

/*
 * Returns whether the columns that the query wants its rows sorted by are this relation's, or can
 * be computed of these.
 */
static bool
can_be_ordered(PlannerInfo *root, RelOptInfo *rel)
{
	ListCell   *lc;

	foreach(lc, root->query_pathkeys)
	{
		EquivalenceClass *ec = lfirst_node(PathKey, lc)->pk_eclass;

		if (!relation_can_be_sorted_early(root, rel, ec, false) || can_fail(rel, ec))
			return false;
	}
	return true;
}

/*
 * Makes the planner's own path that sorts a table early, in workers; returns NULL if it has none.
 */
static Path *
make_planners_sort(PlannerInfo *root, RelOptInfo *rel)
{
	Path	   *partial;
	Path	   *sorted;
	double		rows;
	ListCell   *lc;

	if (!enable_gathermerge || !rel->consider_parallel || rel->partial_pathlist == NIL ||
		rel->reloptkind != RELOPT_BASEREL)
		return NULL;
	foreach(lc, root->query_pathkeys)
	{
		if (!relation_can_be_sorted_early(root, rel, lfirst_node(PathKey, lc)->pk_eclass, true))
			return NULL;
	}
	partial = linitial(rel->partial_pathlist);
	sorted = (Path *) create_sort_path(root, rel, partial, root->query_pathkeys, -1);
	rows = partial->rows * partial->parallel_workers;
	return (Path *) create_gather_merge_path(root, rel, sorted, rel->reltarget,
											 root->query_pathkeys, NULL, &rows);
}

/*
 * Returns the path whose cost a sort of ours is charged: the planner's own sort, in workers if it
 * would make one.  If ours were charged less, a loop above it would drive out loops that the
 * planner chooses, and might be removed later itself.
 */
static const Path *
charged_path(PlannerInfo *root, RelOptInfo *rel)
{
	const Path *own = make_planners_sort(root, rel);

	if (own == NULL)
		own = (Path *) create_sort_path(root, rel, rel->cheapest_total_path, root->query_pathkeys,
										-1);
	return own;
}

static void
charge(Path *path, const Path *own)
{
	path->startup_cost = Max(path->startup_cost, own->startup_cost);
	path->total_cost = Max(path->total_cost, own->total_cost);
}

/*
 * Returns whether the rows come in order for less than this path, by an index as a rule.  No sort
 * of ours would be kept then.
 */
static bool
comes_in_order_for_less(PlannerInfo *root, const RelOptInfo *rel, const Path *own)
{
	const Path *in_order = get_cheapest_path_for_pathkeys(rel->pathlist, root->query_pathkeys, NULL,
														  TOTAL_COST, false);

	return in_order != NULL && in_order->startup_cost <= own->startup_cost &&
		in_order->total_cost <= own->total_cost;
}

/*
 * Charges a path clearly more than the relation's cheapest path, which is in the same list and
 * below ours.  add_path() frees a path if another is as good but for 1 % of the cost.
 */
static void
charge_more_than_input(const RelOptInfo *rel, Path *path)
{
	path->total_cost = Max(path->total_cost,
						   rel->cheapest_total_path->total_cost * MORE_THAN_THE_SAME);
}

void
gpusort_add_early_paths(PlannerInfo *root, RelOptInfo *rel)
{
	const Path *cheapest;
	const Path *own;
	List	   *paths;
	ListCell   *lc;

	/* Most queries end here. */
	if (root->limit_tuples <= 0 || root->query_pathkeys == NIL || rel->pathlist == NIL ||
		rel->reloptkind != RELOPT_BASEREL || (!gpusort_force && rel->rows < gpusort_min_rows) ||
		bms_membership(root->all_baserels) != BMS_MULTIPLE ||
		!bms_is_empty(rel->lateral_relids) || !can_be_ordered(root, rel))
		return;
	/*
	 * The planner does both when we are done, but a Gather that is added later could free what is
	 * below our paths.
	 */
	generate_useful_gather_paths(root, rel, false);
	set_cheapest(rel);
	cheapest = rel->cheapest_total_path;
	if (cheapest->param_info != NULL ||
		pathkeys_contained_in(root->query_pathkeys, cheapest->pathkeys))
		return;
	own = charged_path(root, rel);
	if (!gpusort_force && comes_in_order_for_less(root, rel, own))
		return;
	paths = gpusort_make_sorted_paths(root, rel, rel, root->query_pathkeys, GPUSORT_NO_LIMIT);
	foreach(lc, paths)
	{
		if (!gpusort_force)
			charge((Path *) lfirst(lc), own);
		charge_more_than_input(rel, (Path *) lfirst(lc));
	}
	foreach(lc, paths)
		add_path(rel, (Path *) lfirst(lc));
}

static bool
is_node(const Path *path, const char *name)
{
	return IsA(path, CustomPath) &&
		strcmp(((const CustomPath *) path)->methods->CustomName, name) == 0;
}

/*
 * Returns whether there is a join of ours, or a merge join of sorts of ours, below what workers
 * sort.
 */
static bool
is_joined_by_us(const Path *path)
{
	const JoinPath *join;

	if (IsA(path, SortPath) || is_node(path, GPUSORT_NODE))
		return is_joined_by_us(gpusort_path_below(path));
	if (!IsA(path, NestPath) && !IsA(path, MergePath) && !IsA(path, HashPath))
		return is_node(path, GPUSORT_UNFINISHED_JOIN_NODE);
	join = (const JoinPath *) path;
	if (IsA(path, MergePath) &&
		(IsA(join->outerjoinpath, CustomPath) || IsA(join->innerjoinpath, CustomPath)))
		return true;
	return is_joined_by_us(join->outerjoinpath) || is_joined_by_us(join->innerjoinpath);
}

/*
 * Returns the early sort whose order a path has, kept by nested loops, or NULL: a sort of a table;
 * or a Gather Merge above a join of ours that workers sort, as the planner has workers sort joins
 * of its own.
 */
static const Path *
find_early_order(const Path *path)
{
	while (IsA(path, NestPath))
		path = ((const JoinPath *) path)->outerjoinpath;
	if (path->parent->reloptkind == RELOPT_BASEREL)
		return is_node(path, GPUSORT_NODE) ? path : NULL;
	return IsA(path, GatherMergePath) && is_joined_by_us(gpusort_path_below(path)) ? path : NULL;
}

/* Returns the cheapest path without parameters.  The paths are in the order of their costs. */
static const Path *
cheapest_alone(const List *paths)
{
	ListCell   *lc;

	foreach(lc, paths)
	{
		const Path *path = (const Path *) lfirst(lc);

		if (path->param_info == NULL)
			return path;
	}
	return NULL;
}

/* Returns whether a path returns one row, whatever its input. */
static bool
is_one_row(const Path *path)
{
	while (IsA(path, MemoizePath) || IsA(path, ProjectionPath) ||
		   (IsA(path, SubqueryScanPath) && path->parent->baserestrictinfo == NIL))
		path = gpusort_path_below(path);
	return (IsA(path, AggPath) && ((const AggPath *) path)->aggstrategy == AGG_PLAIN &&
			((const AggPath *) path)->qual == NIL) ||
		(IsA(path, MinMaxAggPath) && ((const MinMaxAggPath *) path)->quals == NIL);
}

/*
 * Returns whether each row of a join's outer side counts, as in a left join, or with the aggregates
 * of a LATERAL subquery.
 */
static bool
keeps_all_rows(const JoinPath *join)
{
	return join->jointype == JOIN_LEFT ||
		(join->jointype == JOIN_INNER && join->joinrestrictinfo == NIL &&
		 is_one_row(join->innerjoinpath));
}

/*
 * Returns whether a nested loop above an early sort, with the loops below it, takes too long.  Two
 * tables that have nothing in common may be joined first by the only loop there is.
 */
static bool
is_long_loop(const Path *path, Cost cheapest)
{
	const Path *sorted = IsA(path, NestPath) ? find_early_order(path) : NULL;
	const JoinPath *join = (const JoinPath *) path;
	double		most_times = gpusort_force ? MOST_TIMES_IF_FORCED : MOST_TIMES_AS_LONG;

	if (sorted == NULL)
		return false;
	if (keeps_all_rows(join))
		most_times = MOST_TIMES_OF_ALL_ROWS;
	else if (!gpusort_force && IsA(join->outerjoinpath, NestPath) &&
			 bms_is_empty(join->innerjoinpath->parent->lateral_relids))
		return true;
	return path->total_cost > most_times * cheapest;
}

/*
 * Removes the long loops, apart from those above a sort for which the planner has a path of its
 * own.
 */
void
gpusort_drop_long_loops(PlannerInfo *root, RelOptInfo *joinrel)
{
	const Path *cheapest = cheapest_alone(joinrel->pathlist);
	Cost		cost;
	ListCell   *lc;

	if (cheapest == NULL)
		return;
	cost = cheapest->total_cost;
	foreach(lc, joinrel->pathlist)
	{
		const Path *path = (const Path *) lfirst(lc);

		if (path != cheapest && is_long_loop(path, cost) &&
			make_planners_sort(root, find_early_order(path)->parent) == NULL)
			joinrel->pathlist = foreach_delete_current(joinrel->pathlist, lc);
	}
}
