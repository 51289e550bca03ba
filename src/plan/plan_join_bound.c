/*
 * plan_join_bound.c
 *		What joining all tables of a query costs at most; see plan_joins_private.h.
 *
 * The search begins with each table in turn, and joins next the table that makes the result cost
 * least: in a nested loop by a path with parameters, which tells how many rows it finds for each
 * row; or by a hash table of the table's rows.  The planner will find the same order of joins, or a
 * better one.
 */
#include "postgres.h"

#include <float.h>
#include <math.h>

#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "utils/memutils.h"

#include "cost/cost.h"
#include "plan/plan_estimate_private.h"
#include "plan/plan_joins_private.h"
#include "settings.h"

/*
 * The bound is this many times what joining the other tables to the first one costs.  On the one
 * hand, the order is not the planner's best one; on the other hand, not all conditions are
 * considered when rows are estimated.  What the first table's path costs is no guess.
 */
#define MARGIN	1.5

/* The tables joined so far. */
typedef struct JoinedTables
{
	Relids		relids;
	double		rows;
	Cost		cost;
	bool		few;			/* only the first rows are wanted, so no table may be hashed */
} JoinedTables;

/* The bound found so far, and the tables to begin with that were not tried yet. */
typedef struct KnownBound
{
	bool		begun;
	Relids		firsts;			/* tables that are left to begin with */
	Cost		cost;
} KnownBound;

/*
 * Returns whether the search understands the query: it has only inner joins, and semijoins and
 * antijoins with a single table, and no table depends on rows of others (LATERAL).
 */
static bool
is_understood(PlannerInfo *root)
{
	ListCell   *lc;

	foreach(lc, root->join_info_list)
	{
		const SpecialJoinInfo *sjinfo = lfirst(lc);

		if ((sjinfo->jointype != JOIN_SEMI && sjinfo->jointype != JOIN_ANTI) ||
			bms_membership(sjinfo->min_righthand) != BMS_SINGLETON)
			return false;
	}
	for (int i = bms_next_member(root->all_baserels, -1); i >= 0; i =
		 bms_next_member(root->all_baserels, i))
	{
		const RelOptInfo *rel = root->simple_rel_array[i];

		if (!bms_is_empty(rel->lateral_relids) || rel->cheapest_total_path->param_info != NULL)
			return false;
	}
	return true;
}

/* Returns the semijoin or antijoin whose inner side is this table, or NULL. */
static const SpecialJoinInfo *
special_join(PlannerInfo *root, const RelOptInfo *rel)
{
	ListCell   *lc;

	foreach(lc, root->join_info_list)
	{
		const SpecialJoinInfo *sjinfo = lfirst(lc);

		if (bms_equal(sjinfo->min_righthand, rel->relids))
			return sjinfo;
	}
	return NULL;
}

/* Returns the cheapest path that looks up a table's rows for those joined so far, or NULL. */
static const Path *
cheapest_lookup(const RelOptInfo *rel, Relids relids)
{
	const Path *cheapest = NULL;
	ListCell   *lc;

	foreach(lc, rel->pathlist)
	{
		const Path *path = (const Path *) lfirst(lc);

		if (path->param_info != NULL && bms_is_subset(path->param_info->ppi_req_outer, relids) &&
			(cheapest == NULL || path->total_cost < cheapest->total_cost))
			cheapest = path;
	}
	return cheapest;
}

/* Returns whether a path finds one row at most, by all columns of a unique index. */
static bool
finds_one_row(const Path *lookup)
{
	const IndexPath *path = (const IndexPath *) lookup;

	return IsA(lookup, IndexPath) && path->indexinfo->unique &&
		list_length(path->indexclauses) >= path->indexinfo->nkeycolumns;
}

/*
 * Returns whether the number of rows that a path finds is known.  An estimate of one may stand for
 * fewer.
 */
static bool
is_number_known(const Path *lookup)
{
	return finds_one_row(lookup) || lookup->rows > 1;
}

/* Returns how many rows a path finds for one row.  The planner's estimate is one at least. */
static double
found_rows(const RelOptInfo *rel, const Path *lookup)
{
	return finds_one_row(lookup) && rel->tuples > 0 ? Min(rel->rows / rel->tuples, 1)
		: lookup->rows;
}

/* Joins one more table; returns false if it can't be joined yet. */
static bool
join_table(PlannerInfo *root, const RelOptInfo *rel, const JoinedTables *before,
		   JoinedTables *after)
{
	const SpecialJoinInfo *sjinfo = special_join(root, rel);
	const Path *lookup = cheapest_lookup(rel, before->relids);
	const Path *all = rel->cheapest_total_path;
	Cost		cost;

	if (lookup == NULL ||
		(sjinfo != NULL && !bms_is_subset(sjinfo->min_lefthand, before->relids)) ||
		(before->few && (sjinfo != NULL || !is_number_known(lookup))))
		return false;
	*after = *before;
	cost = enable_nestloop ? before->rows * lookup->total_cost : DBL_MAX;
	if (!before->few && enable_hashjoin)
		cost = Min(cost,
				   all->total_cost +
				   gpusort_hash_join_cost(before->rows, all->rows, all->pathtarget->width));
	after->cost += cost;
	if (sjinfo == NULL)
		after->rows *= found_rows(rel, lookup);
	after->cost += after->rows * cpu_tuple_cost;
	return true;
}

/* Joins all tables to those joined already; returns false if some can't be joined. */
static bool
join_all(PlannerInfo *root, JoinedTables *joined)
{
	int			left = bms_num_members(root->all_baserels) - 1;

	for (; left > 0; left--)
	{
		JoinedTables best = {.cost = DBL_MAX};
		int			next = -1;

		for (int i = bms_next_member(root->all_baserels, -1); i >= 0; i =
			 bms_next_member(root->all_baserels, i))
		{
			JoinedTables after;

			if (!bms_is_member(i, joined->relids) &&
				join_table(root, root->simple_rel_array[i], joined, &after) &&
				after.cost < best.cost)
			{
				best = after;
				next = i;
			}
		}
		if (next < 0)
			return false;
		*joined = best;
		joined->relids = bms_add_member(joined->relids, next);
	}
	return true;
}

/*
 * Returns the cost of joining all tables if the rows of this path come first.  If few, it is the
 * cost of as many rows as the query wants, and the path must have the order that the query wants.
 */
static Cost
cost_from(PlannerInfo *root, const Path *first, bool few)
{
	JoinedTables joined = {.rows = first->rows, .cost = first->total_cost, .few = few};

	joined.relids = bms_copy(first->parent->relids);
	if (!join_all(root, &joined))
		return DBL_MAX;
	joined.cost = first->total_cost + MARGIN * (joined.cost - first->total_cost);
	if (few)
		return first->startup_cost +
			(joined.cost - first->startup_cost) * Min(root->limit_tuples / joined.rows, 1);
	/* Another order of joins may save a sort of the result, so the bound includes one. */
	joined.cost += joined.rows * 2.0 * cpu_operator_cost * log2(Max(joined.rows, 2));
	if (first->parallel_workers > 0)
		joined.cost += parallel_setup_cost + gpusort_cost_gather +
			(root->parse->hasAggs ? 0
			 : joined.rows * parallel_tuple_cost * (first->parallel_workers + 1));
	return joined.cost;
}

static bool
may_be_gathered(PlannerInfo *root)
{
	for (int i = bms_next_member(root->all_baserels, -1); i >= 0; i =
		 bms_next_member(root->all_baserels, i))
	{
		if (!root->simple_rel_array[i]->consider_parallel)
			return false;
	}
	return true;
}

/* Returns the cost of joining all tables if this one comes first. */
static Cost
cost_from_table(PlannerInfo *root, const RelOptInfo *rel)
{
	Cost		cost = cost_from(root, rel->cheapest_total_path, false);
	const Path *first;

	if (rel->partial_pathlist != NIL && may_be_gathered(root))
		cost = Min(cost, cost_from(root, linitial(rel->partial_pathlist), false));
	first = root->limit_tuples <= 0 ? NULL :
		get_cheapest_path_for_pathkeys(rel->pathlist, root->query_pathkeys, NULL, TOTAL_COST,
									   false);
	if (first != NULL && (root->query_pathkeys == NIL || IsA(first, IndexPath)))
		cost = Min(cost, cost_from(root, first, true));
	return cost;
}

/*
 * Returns the table that has the fewest rows of those left, with which the cheapest plan begins as
 * a rule.
 */
static int
next_first(PlannerInfo *root, const KnownBound *bound)
{
	int			next = -1;

	for (int i = bms_next_member(bound->firsts, -1); i >= 0; i = bms_next_member(bound->firsts, i))
	{
		if (next < 0 || root->simple_rel_array[i]->rows < root->simple_rel_array[next]->rows)
			next = i;
	}
	return next;
}

static void
begin_bound(PlannerInfo *root, KnownBound *bound)
{
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(bound));

	bound->begun = true;
	bound->cost = DBL_MAX;
	if (is_understood(root))
		bound->firsts = bms_copy(root->all_baserels);
	MemoryContextSwitchTo(old);
}

Cost
gpusort_plan_join_cost_limit(PlannerInfo *root, Cost enough)
{
	KnownBound *bound = gpusort_known(root, root, sizeof(KnownBound));

	if (!bound->begun)
		begin_bound(root, bound);
	while (bound->cost > enough && !bms_is_empty(bound->firsts))
	{
		int			first = next_first(root, bound);
		const RelOptInfo *rel = root->simple_rel_array[first];

		bound->firsts = bms_del_member(bound->firsts, first);
		if (special_join(root, rel) == NULL)
			bound->cost = Min(bound->cost, cost_from_table(root, rel));
	}
	return bound->cost;
}
