/*
 * plan_undercharged.c
 *		Paths that the planner has charged too little for; see plan_undercharged.h.
 */
#include "postgres.h"

#include <float.h>

#include "cost/cost_hash.h"
#include "pg_compat/paths.h"
#include "plan/plan_sorted.h"
#include "plan/plan_undercharged.h"

/*
 * Costs are put between these shares of what was charged.  add_path() takes those that differ by 1 %
 * for the same.
 */
#define LEAST			0.8
#define CLEARLY_LESS	0.98

/* Which of a relation's paths have been charged too little. */
typedef bool (*Undercharged) (const Path *path, const RelOptInfo *input_rel);

static const Path *
next_below(const Path *path)
{
	switch (nodeTag(path))
	{
		case T_AggPath:
			return ((const AggPath *) path)->subpath;
		case T_SortPath:
			return ((const SortPath *) path)->subpath;
		case T_IncrementalSortPath:
			return ((const IncrementalSortPath *) path)->spath.subpath;
		case T_GatherPath:
			return ((const GatherPath *) path)->subpath;
		case T_GatherMergePath:
			return ((const GatherMergePath *) path)->subpath;
		case T_ProjectionPath:
			return ((const ProjectionPath *) path)->subpath;
		case T_UpperUniquePath:
			return ((const UpperUniquePath *) path)->subpath;
		default:
			return NULL;
	}
}

/* Does the path put rows or groups into a hash table, above the input relation's paths? */
static bool
has_hash_table(const Path *path, const RelOptInfo *input_rel)
{
	for (; path != NULL && path->parent != input_rel; path = next_below(path))
	{
		if (IsA(path, AggPath) && ((const AggPath *) path)->aggstrategy == AGG_HASHED)
			return true;
		if (IsA(path, SetOpPath))
			return ((const SetOpPath *) path)->strategy == SETOP_HASHED;
	}
	return false;
}

/* Of two paths, the one that costs more still does. */
static void
lower_cost(Path *path, Cost charged, Cost lacking)
{
	Cost		least = charged * LEAST;
	Cost		most = charged * CLEARLY_LESS;

	if (path->total_cost <= least || path->total_cost >= charged + lacking)
		return;
	path->total_cost = least +
		(most - least) * (path->total_cost - least) / (charged + lacking - least);
	path->startup_cost = Min(path->startup_cost, path->total_cost);
}

static Cost
cheapest_of(const List *paths)
{
	Cost		cheapest = DBL_MAX;
	ListCell   *lc;

	foreach(lc, paths)
		cheapest = Min(cheapest, ((const Path *) lfirst(lc))->total_cost);
	return cheapest;
}

/* charged: what one that is not among rel's paths has been charged, or DBL_MAX */
static void
outbid(const List *paths, const RelOptInfo *rel, const RelOptInfo *input_rel,
	   Undercharged undercharged, Cost charged, Cost lacking)
{
	Cost		others = DBL_MAX;
	ListCell   *lc;

	if (lacking <= 0)
		return;
	foreach(lc, rel->pathlist)
	{
		const Path *path = (const Path *) lfirst(lc);

		if (undercharged(path, input_rel))
			charged = Min(charged, path->total_cost);
		else
			others = Min(others, path->total_cost);
	}
	foreach(lc, paths)
	{
		Path	   *path = (Path *) lfirst(lc);

		if (charged < DBL_MAX && path->total_cost < others)
			lower_cost(path, charged, lacking);
	}
}

/* Of what other servers charge nothing is known to be lacking, and their rows need not come. */
static bool
is_computed_here(const Path *path, const RelOptInfo *input_rel)
{
	return !gpusort_is_computed_remotely(path);
}

void
gpusort_outbid_all(const List *paths, const RelOptInfo *rel, const List *left_out, Cost lacking)
{
	outbid(paths, rel, NULL, is_computed_here, cheapest_of(left_out), lacking);
}

void
gpusort_outbid_hash_tables(const List *paths, const RelOptInfo *rel, const RelOptInfo *input_rel,
						   double groups)
{
	const Path *cheapest = input_rel->cheapest_total_path;
	int			participants = 1;

	if (input_rel->partial_pathlist != NIL)
		participants += ((const Path *) linitial(input_rel->partial_pathlist))->parallel_workers;
	outbid(paths, rel, input_rel, has_hash_table, DBL_MAX,
				   gpusort_hash_extra_cost(cheapest->rows, groups, cheapest->pathtarget->width,
										   participants));
}
