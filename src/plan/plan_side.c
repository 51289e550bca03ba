/*
 * plan_side.c
 *		A side of joins; see plan_joins_private.h.
 */
#include "postgres.h"

#include <float.h>

#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "utils/memutils.h"

#include "cost/cost.h"
#include "plan/plan_estimate_private.h"
#include "plan/plan_joins_private.h"
#include "plan/plan_paths_private.h"
#include "settings.h"

/* What has been asked about a partial path so far. */
typedef struct PartialSide
{
	Path	   *partial;
	bool		shared_known;
	bool		is_shared;		/* a shared sort is worth it, and shared describes it */
	GpuSortSharedSort shared;
	Path	   *shared_path;
	bool		participants_known;
	Path	   *participants_path;
} PartialSide;

struct GpuSortSide
{
	PlannerInfo *root;
	RelOptInfo *rel;
	List	   *pathkeys;
	bool		sorted_known;
	Path	   *sorted;
	Path	   *scan;			/* scan of the relation by workers, or NULL */
	List	   *partials;		/* list of PartialSide */
};

/* The sides of a relation, of which there are few, and what its rows cost at least. */
typedef struct Sides
{
	/* all of this is valid while this is the relation's cheapest path */
	const Path *cheapest;
	GpuSortLeastCosts least;
	List	   *sides;
} Sides;

/* ---------- what is known about a relation ---------- */

bool
gpusort_has_many_rows(const RelOptInfo *rel)
{
	return rel->rows >= gpusort_min_rows || gpusort_force;
}

/*
 * Returns the least cost of the paths without parameters that come in some order, or DBL_MAX if
 * there is none.
 */
static Cost
cheapest_in_order(const List *paths)
{
	Cost		cheapest = DBL_MAX;
	ListCell   *lc;

	foreach(lc, paths)
	{
		const Path *path = (const Path *) lfirst(lc);

		if (path->pathkeys != NIL && path->param_info == NULL)
			cheapest = Min(cheapest, path->total_cost);
	}
	return cheapest;
}

/*
 * Returns what a participant's share of the rows costs at least, in some order.  A table that the
 * planner has found to be too small for workers may be scanned by them all the same.
 */
static Cost
least_partial_cost(const RelOptInfo *rel, const GpuSortLeastCost *sort)
{
	const Path *partial = rel->partial_pathlist != NIL ? linitial(rel->partial_pathlist) : NULL;
	int			workers = partial != NULL ? partial->parallel_workers
		: max_parallel_workers_per_gather;
	Cost		sorted = (sort->collect_cost + sort->rest_cost) / (workers + 1);

	if (partial != NULL)
		return Min(partial->total_cost + sorted, cheapest_in_order(rel->partial_pathlist));
	return rel->reloptkind == RELOPT_BASEREL
		? rel->cheapest_total_path->total_cost / (workers + 1) + sorted : DBL_MAX;
}

static void
find_least_costs(const RelOptInfo *rel, GpuSortLeastCosts *least)
{
	GpuSortLeastCost sort;

	gpusort_least_cost(rel->rows, rel->reltarget->width, !IS_JOIN_REL(rel), &sort);
	least->partial = least_partial_cost(rel, &sort);
	least->sorted = DBL_MAX;
	if (gpusort_has_many_rows(rel))
		least->sorted = rel->cheapest_total_path->total_cost + sort.collect_cost + sort.slot_cost +
			sort.rest_cost;
	if (gpusort_has_many_rows(rel) && rel->partial_pathlist != NIL)
		least->sorted = Min(least->sorted, parallel_setup_cost + least->partial);
	least->in_order = cheapest_in_order(rel->pathlist);
}

static Sides *
known_sides(PlannerInfo *root, RelOptInfo *rel)
{
	Sides	   *known = gpusort_known(root, rel, sizeof(Sides));

	if (known->cheapest != rel->cheapest_total_path)
	{
		known->cheapest = rel->cheapest_total_path;
		known->sides = NIL;
		find_least_costs(rel, &known->least);
	}
	return known;
}

const GpuSortLeastCosts *
gpusort_side_least_costs(PlannerInfo *root, RelOptInfo *rel)
{
	return &known_sides(root, rel)->least;
}

static bool
are_pathkeys(const List *pathkeys, const List *others)
{
	ListCell   *lc;
	ListCell   *lc2;

	if (list_length(pathkeys) != list_length(others))
		return false;
	forboth(lc, pathkeys, lc2, others)
	{
		/* The pathkeys are canonical. */
		if (lfirst(lc) != lfirst(lc2))
			return false;
	}
	return true;
}

GpuSortSide *
gpusort_side(PlannerInfo *root, RelOptInfo *rel, List *pathkeys)
{
	Sides	   *known = known_sides(root, rel);
	GpuSortSide *side;
	MemoryContext old;
	ListCell   *lc;

	foreach(lc, known->sides)
	{
		side = lfirst(lc);
		if (are_pathkeys(side->pathkeys, pathkeys))
			return side;
	}
	old = MemoryContextSwitchTo(GetMemoryChunkContext(known));
	side = palloc0(sizeof(GpuSortSide));
	side->root = root;
	side->rel = rel;
	side->pathkeys = list_copy(pathkeys);
	known->sides = lappend(known->sides, side);
	MemoryContextSwitchTo(old);
	return side;
}

/* ---------- sorted by one process, or collected by workers for it ---------- */

static Path *
cheapest_of(const List *paths)
{
	Path	   *cheapest = NULL;
	ListCell   *lc;

	foreach(lc, paths)
	{
		Path	   *path = (Path *) lfirst(lc);

		if (cheapest == NULL || path->total_cost < cheapest->total_cost)
			cheapest = path;
	}
	return cheapest;
}

Path *
gpusort_side_sorted(GpuSortSide *side)
{
	const Path *cheapest = side->rel->cheapest_total_path;
	MemoryContext old;

	if (side->sorted_known)
		return side->sorted;
	side->sorted_known = true;
	if (cheapest->param_info != NULL || pathkeys_contained_in(side->pathkeys, cheapest->pathkeys))
		return NULL;
	old = MemoryContextSwitchTo(GetMemoryChunkContext(side));
	side->sorted =
		cheapest_of(gpusort_make_sorted_paths(side->root, side->rel, side->rel, side->pathkeys,
														 GPUSORT_NO_LIMIT));
	MemoryContextSwitchTo(old);
	return side->sorted;
}

/* ---------- sorted by participants ---------- */

static PartialSide *
partial_side(GpuSortSide *side, Path *partial)
{
	PartialSide *found;
	ListCell   *lc;
	MemoryContext old;

	foreach(lc, side->partials)
	{
		found = lfirst(lc);
		if (found->partial == partial)
			return found;
	}
	old = MemoryContextSwitchTo(GetMemoryChunkContext(side));
	found = palloc0(sizeof(PartialSide));
	found->partial = partial;
	side->partials = lappend(side->partials, found);
	MemoryContextSwitchTo(old);
	return found;
}

Path *
gpusort_side_scan(GpuSortSide *side, int workers)
{
	MemoryContext old;

	if (side->scan == NULL || side->scan->parallel_workers != workers)
	{
		old = MemoryContextSwitchTo(GetMemoryChunkContext(side));
		side->scan = create_seqscan_path(side->root, side->rel, NULL, workers);
		MemoryContextSwitchTo(old);
	}
	return side->scan;
}

const GpuSortSharedSort *
gpusort_side_shared(GpuSortSide *side, Path *partial)
{
	PartialSide *found = partial_side(side, partial);
	MemoryContext old;

	if (!found->shared_known)
	{
		old = MemoryContextSwitchTo(GetMemoryChunkContext(side));
		found->shared.partial = partial;
		found->shared.pathkeys = side->pathkeys;
		found->shared.all_rows = clamp_row_est(side->rel->rows);
		found->is_shared = gpusort_plan_shared_worth_it(side->root, &found->shared);
		found->shared_known = true;
		MemoryContextSwitchTo(old);
	}
	return found->is_shared ? &found->shared : NULL;
}

Path *
gpusort_side_shared_path(GpuSortSide *side, const GpuSortSharedSort *sort)
{
	PartialSide *found = partial_side(side, sort->partial);
	MemoryContext old;

	if (found->shared_path == NULL)
	{
		old = MemoryContextSwitchTo(GetMemoryChunkContext(side));
		found->shared_path = gpusort_make_shared_path(side->root, side->rel, &found->shared);
		MemoryContextSwitchTo(old);
	}
	return found->shared_path;
}

Path *
gpusort_side_participants_path(GpuSortSide *side, Path *partial)
{
	PartialSide *found = partial_side(side, partial);
	MemoryContext old;

	if (!found->participants_known)
	{
		old = MemoryContextSwitchTo(GetMemoryChunkContext(side));
		found->participants_path = gpusort_make_participants_path(side->root, side->rel, partial,
																  side->pathkeys);
		found->participants_known = true;
		MemoryContextSwitchTo(old);
	}
	return found->participants_path;
}
