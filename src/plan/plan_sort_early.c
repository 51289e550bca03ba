/*
 * plan_sort_early.c
 *		GpuSort paths of a table below joins, for an ORDER BY with a LIMIT.
 *
 * Where the first rows of a join are wanted, in the order of one table's columns, the planner joins all
 * rows and sorts the result, unless an index delivers the order, or workers can sort the table: in one
 * process it never sorts one by what the query wants in the end.  Sorting that table first costs less than
 * most joins, and then a nested loop, which keeps the order, joins no more rows than are wanted.
 *
 * No path is made where a single table is read, which is sorted on top (plan_order_by.c), or
 * where all rows are wanted: the planner would compare these paths at each level of joins, and a sort on top
 * costs about as much.
 */
#include "postgres.h"

#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"

#include "cost/cost.h"
#include "pg_compat/paths.h"
#include "plan/plan_node.h"
#include "plan/plan_slices.h"
#include "plan/plan_sort_early.h"
#include "plan/plan_sorted.h"
#include "settings.h"

/*
 * The first rows may be all rows, where few have partners, and then a loop that reads its inner side for each row
 * takes a minute for what a hash join does in a second, and one that looks rows up by an index several times as long.
 * How many have some is a guess, as a rule.  So no loop is made that costs so many times what another path does, run
 * to the end; as LATERAL has loops only, that leaves those.  In a left join each row counts, and the loop ends
 * where it was expected to.
 *
 * The planner makes such loops itself of tables that workers can sort, and those that it would choose stay: ours are
 * cheaper and have driven them out, so they are taken to cost what the planner's do instead.
 */
#define MOST_TIMES_AS_LONG			1.5
#define MOST_TIMES_OF_LEFT_JOINS	16

/*
 * Rows that no join wants are sorted, too.  So nothing may be computed for that which might fail, or tell of
 * them: ORDER BY 1 / a, where another table's rows have those whose a is not 0.
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

/* Are the columns of the order this relation's, or can they be computed of these? */
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

/* The table sorted above whose order a path has, or that loops keep; or NULL. */
static const Path *
find_early_order(const Path *path)
{
	while (IsA(path, NestPath))
		path = ((const JoinPath *) path)->outerjoinpath;
	return path->parent->reloptkind == RELOPT_BASEREL && IsA(path, CustomPath) &&
		strcmp(((const CustomPath *) path)->methods->CustomName, GPUSORT_NODE) == 0 ? path : NULL;
}

/* The cheapest path that stands for itself: they are in the order of their costs. */
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

/*
 * Does it take too long, with the loops below it?  Two tables that have nothing in common may be joined first, by the
 * only loop there is.
 */
static bool
is_long_loop(const Path *path, Cost cheapest)
{
	const Path *sorted = IsA(path, NestPath) ? find_early_order(path) : NULL;
	double		most_times = MOST_TIMES_AS_LONG;

	if (sorted == NULL)
		return false;
	if (((const JoinPath *) path)->jointype == JOIN_LEFT)
		most_times = MOST_TIMES_OF_LEFT_JOINS;
	return path->total_cost - sorted->total_cost > most_times * cheapest;
}

/* The planner's own path that sorts a table early, in workers; or NULL. */
static Path *
planners_own(PlannerInfo *root, RelOptInfo *rel)
{
	Path	   *partial;
	Path	   *sorted;
	double		rows;
	ListCell   *lc;

	if (!enable_gathermerge || !rel->consider_parallel || rel->partial_pathlist == NIL)
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

/* A copy of a loop, above a copy of the sorted table that costs as much as another path of it. */
static Path *
with_cost_of(const Path *path, const Path *sorted, const Path *other)
{
	Path	   *copy;

	if (path == sorted)
	{
		copy = (Path *) makeNode(CustomPath);
		*(CustomPath *) copy = *(const CustomPath *) path;
	}
	else
	{
		NestPath   *loop = makeNode(NestPath);

		*loop = *(const NestPath *) path;
		loop->jpath.outerjoinpath = with_cost_of(loop->jpath.outerjoinpath, sorted, other);
		copy = &loop->jpath.path;
	}
	copy->startup_cost += Max(other->startup_cost - sorted->startup_cost, 0);
	copy->total_cost = path == sorted ? other->total_cost
		: path->total_cost + other->total_cost - sorted->total_cost;
	return copy;
}

/* Take the long loops out of the paths; return those that stay, at the planner's cost. */
static List *
take_long_loops(PlannerInfo *root, RelOptInfo *joinrel, Cost cheapest)
{
	List	   *stay = NIL;
	ListCell   *lc;

	foreach(lc, joinrel->pathlist)
	{
		const Path *path = (const Path *) lfirst(lc);
		const Path *sorted;
		const Path *own;

		if (!is_long_loop(path, cheapest))
			continue;
		sorted = find_early_order(path);
		own = planners_own(root, sorted->parent);
		if (own != NULL && sorted->total_cost >= own->total_cost)
			continue;
		joinrel->pathlist = foreach_delete_current(joinrel->pathlist, lc);
		if (own != NULL)
			stay = lappend(stay, with_cost_of(path, sorted, own));
	}
	return stay;
}

void
gpusort_drop_long_loops(PlannerInfo *root, RelOptInfo *joinrel)
{
	const Path *cheapest = cheapest_alone(joinrel->pathlist);
	List	   *stay;
	ListCell   *lc;

	if (cheapest == NULL)
		return;
	stay = take_long_loops(root, joinrel, cheapest->total_cost);
	foreach(lc, stay)
		add_path(joinrel, (Path *) lfirst(lc));
}
