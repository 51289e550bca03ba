/*
 * plan_offer.c
 *		Offering paths to the planner; see plan_paths_private.h.
 */
#include "postgres.h"

#include <float.h>

#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "utils/lsyscache.h"

#include "cost/cost.h"
#include "pg_compat/paths.h"
#include "plan/plan_estimate_private.h"
#include "plan/plan_paths_private.h"
#include "settings.h"

/*
 * A lowered cost is put between these shares of what the undercharged path was charged.  add_path()
 * takes costs that differ by 1 % for the same.
 */
#define LEAST			0.8
#define CLEARLY_LESS	0.98


/* How much too little the paths of a relation have been charged. */
typedef struct Undercharged
{
	/* only paths that put this relation's rows into hash tables lack something; NULL: all do */
	const RelOptInfo *input_rel;
	GpuSortGroups groups;
	/* number of these that have a hash table each, if workers have any */
	int			participants;
	Cost		sorted;			/* what paths above sorts lack, which is taken off */
	Cost		lacking;		/* what each path lacks, if input_rel is NULL */
} Undercharged;

/* ---------- hash tables of groups ---------- */

/*
 * Returns the path below a path, or NULL: of the partitions below an Append the first one, as they
 * are alike.  It does not look into groups of rows in order that have no aggregates, or have
 * grouping sets.
 */
static const Path *
next_below(const Path *path)
{
	if (IsA(path, AppendPath))
		return gpusort_appended_paths(path) != NIL ? linitial(gpusort_appended_paths(path)) : NULL;
	return IsA(path, GroupPath) || IsA(path, GroupingSetsPath) ? NULL : gpusort_path_below(path);
}

/* Returns whether there is a path, and it belongs to the groups and not to their input. */
static bool
is_of_groups(const Path *path, const Undercharged *undercharged)
{
	return path != NULL && path->parent != undercharged->input_rel && IS_UPPER_REL(path->parent);
}

static bool
is_hash_table(const Path *path)
{
	if (IsA(path, AggPath))
		return ((const AggPath *) path)->aggstrategy == AGG_HASHED;
	return IsA(path, SetOpPath) && ((const SetOpPath *) path)->strategy == SETOP_HASHED;
}

/*
 * Returns what the hash tables of so many partitions lack together, each of which has its part of
 * the rows.  With one partition, there is one hash table of all rows.
 */
static Cost
lacking_of_hashing(const Undercharged *undercharged, int partitions, bool is_gathered)
{
	GpuSortGroups part = undercharged->groups;

	part.rows /= partitions;
	part.groups /= partitions;
	return partitions *
		gpusort_hash_extra_cost(&part, is_gathered ? undercharged->participants : 1) -
		undercharged->sorted;
}

/*
 * Returns how much too little a path has been charged, or 0.  The hash tables of the input, such as
 * those of its joins, are not looked at.
 */
static Cost
lacking_of(const Path *path, const Undercharged *undercharged)
{
	Cost		lacking = 0;
	bool		is_gathered = false;
	int			partitions = 1;

	/*
	 * What another server charges is not known to be too little, and its rows need not come here to
	 * be grouped.
	 */
	if (undercharged->input_rel == NULL)
		return gpusort_is_computed_remotely(path) ? 0 : undercharged->lacking;
	for (; is_of_groups(path, undercharged); path = next_below(path))
	{
		is_gathered |= IsA(path, GatherPath) || IsA(path, GatherMergePath);
		if (IsA(path, AppendPath))
			partitions = Max(list_length(((const AppendPath *) path)->subpaths), 1);
		if (is_hash_table(path))
			lacking = lacking_of_hashing(undercharged, partitions, is_gathered);
	}
	return lacking;
}

/*
 * Lowers the cost of a path of ours to below `charged`, which an undercharged path was charged, if
 * ours really costs less than real_cost, which the undercharged path really costs.  lacking is how
 * much too little our path has been charged itself.  Of two paths of ours, the one that costs more
 * still does afterwards.
 */
static void
lower_cost(Path *path, Cost lacking, Cost charged, Cost real_cost)
{
	Cost		least = charged * LEAST;
	Cost		most = charged * CLEARLY_LESS;
	Cost		cost = path->total_cost + lacking;

	if (path->total_cost <= least || cost >= real_cost)
		return;
	path->total_cost = Min(path->total_cost,
						   least + (most - least) * (cost - least) / (real_cost - least));
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

/*
 * Copies a path of the planner's own for rows in order; returns NULL if it is of another kind.  The
 * paths below it are shared by the copy.
 */
static Path *
copy_path(const Path *path)
{
	Path	   *copy;
	size_t		size;

	switch (nodeTag(path))
	{
		case T_AggPath:
			size = sizeof(AggPath);
			break;
		case T_GroupPath:
			size = sizeof(GroupPath);
			break;
		case T_UpperUniquePath:
			size = sizeof(UpperUniquePath);
			break;
		default:
			return NULL;
	}
	copy = palloc(size);
	memcpy(copy, path, size);
	return copy;
}

/*
 * Returns the planner's Gather above hash tables that each worker has for itself, or NULL if there
 * is none.
 */
static const Path *
gather_of_hash_tables(const Path *path, const Undercharged *undercharged)
{
	const Path *gather = NULL;

	for (; is_of_groups(path, undercharged); path = next_below(path))
	{
		if (gather != NULL && is_hash_table(path))
			return gather;
		if (IsA(path, GatherPath) || IsA(path, GatherMergePath))
			gather = path;
	}
	return NULL;
}

/*
 * Returns how much too little a path of ours has been charged: for hash tables that workers have
 * below our sort; and for having workers, as we charge it (cost/README.md), if the Gather is the
 * planner's.
 */
static Cost
lacking_of_ours(const Path *path, const Undercharged *undercharged)
{
	const Path *gather = undercharged->input_rel != NULL ? gather_of_hash_tables(path, undercharged)
		: NULL;
	Cost		lacking;

	if (gather == NULL)
		return 0;
	lacking = Max(lacking_of(path, undercharged), 0);
	if (!IsA(next_below(gather), CustomPath))
		lacking += Max(gpusort_cost_gather - parallel_setup_cost, 0);
	return lacking;
}

/*
 * Returns whether a path of the planner's sorts all rows by PostgreSQL's sort.  What that is
 * charged tells nothing if a comparison takes longer than the planner thinks; and a sort of ours
 * would take its place.
 */
static bool
has_core_sort(const Path *path, const Undercharged *undercharged)
{
	for (; is_of_groups(path, undercharged) && !IsA(path, CustomPath); path = next_below(path))
	{
		if (IsA(path, SortPath))
			return true;
	}
	return false;
}

/* Returns the cheapest of a relation's paths that have been charged enough, or NULL. */
static const Path *
cheapest_other(const RelOptInfo *rel, const Undercharged *undercharged)
{
	const Path *cheapest = NULL;
	ListCell   *lc;

	foreach(lc, rel->pathlist)
	{
		const Path *path = (const Path *) lfirst(lc);

		if (lacking_of(path, undercharged) <= 0 && !has_core_sort(path, undercharged) &&
			(cheapest == NULL || path->total_cost < cheapest->total_cost))
			cheapest = path;
	}
	return cheapest;
}

/*
 * Lowers *charged to what the cheapest of the undercharged paths has been charged, and *real_cost
 * to what the cheapest of them really costs, if those are less.
 */
static void
find_lacking(const RelOptInfo *rel, const Undercharged *undercharged, Cost *charged,
			 Cost *real_cost)
{
	ListCell   *lc;

	foreach(lc, rel->pathlist)
	{
		const Path *path = (const Path *) lfirst(lc);
		Cost		lacking = lacking_of(path, undercharged);

		if (lacking <= 0)
			continue;
		*charged = Min(*charged, path->total_cost);
		*real_cost = Min(*real_cost, path->total_cost + lacking);
	}
}

/*
 * Returns whether a path that was charged enough, if there is one, is to be taken instead of the
 * undercharged ones, unless ours is.
 */
static bool
is_better(const Path *other, Cost charged, Cost real_cost)
{
	return other != NULL && other->total_cost > charged && other->total_cost < real_cost;
}

/*
 * Lowers the costs of our paths to below those of the undercharged paths of rel that really cost
 * more.  charged is what an undercharged path was charged that is not among rel's, or DBL_MAX.
 *
 * A path of the planner's that was charged enough may really cost less than ours, for example one
 * by an index.  In that case, that path is to be taken, and a copy of it gets the low cost.
 */
static void
outbid(const List *paths, RelOptInfo *rel, const Undercharged *undercharged, Cost charged)
{
	Cost		real_cost = charged < DBL_MAX ? charged + undercharged->lacking : DBL_MAX;
	const Path *other = cheapest_other(rel, undercharged);
	Path	   *copy = NULL;
	ListCell   *lc;

	find_lacking(rel, undercharged, &charged, &real_cost);
	if (charged >= real_cost || charged == DBL_MAX)
		return;
	foreach(lc, paths)
	{
		Path	   *path = (Path *) lfirst(lc);

		if (other == NULL || path->total_cost < other->total_cost)
			lower_cost(path, lacking_of_ours(path, undercharged), charged, real_cost);
	}
	/*
	 * Workers' hash tables take CPU time from other sessions, which the planner would not have
	 * chosen.
	 */
	if (is_better(other, charged, real_cost) && other->total_cost <= cheapest_of(paths) &&
		gather_of_hash_tables(other, undercharged) == NULL)
		copy = copy_path(other);
	if (copy != NULL)
	{
		lower_cost(copy, 0, charged, real_cost);
		add_path(rel, copy);
	}
}

static int
count_references(const List *pathkeys)
{
	int			count = 0;
	ListCell   *lc;

	foreach(lc, pathkeys)
	{
		const EquivalenceClass *ec = lfirst_node(PathKey, lc)->pk_eclass;

		if (!get_typbyval(linitial_node(EquivalenceMember, ec->ec_members)->em_datatype))
			count++;
	}
	return count;
}

static Undercharged
undercharged_of(const GpuSortGroupedRows *grouped)
{
	const RelOptInfo *input_rel = grouped->input_rel;
	const Path *cheapest = input_rel->cheapest_total_path;
	Undercharged undercharged = {
		.input_rel = input_rel,
		.groups = {
			.rows = cheapest->rows, .groups = grouped->groups, .width = cheapest->pathtarget->width,
			.columns = list_length(grouped->pathkeys),
			.references = count_references(grouped->pathkeys)
		},
		.participants = 1
	};

	if (input_rel->partial_pathlist != NIL)
		undercharged.participants +=
			((const Path *) linitial(input_rel->partial_pathlist))->parallel_workers;
	if (grouped->have_agg)
		undercharged.sorted = gpusort_sorted_agg_extra_cost(&undercharged.groups);
	return undercharged;
}

static void
add_paths(RelOptInfo *rel, const List *paths)
{
	ListCell   *lc;

	foreach(lc, paths)
		add_path(rel, (Path *) lfirst(lc));
}

void
gpusort_offer_paths(const GpuSortGroupedRows *grouped, List *own, List *sliced, Cost sliced_cost)
{
	GpuSortGroupedRows known = *grouped;
	List	   *paths = list_concat(gpusort_cheaper_paths(own, sliced_cost), sliced);
	Undercharged undercharged;

	if (paths != NIL && known.groups > 0 && !known.groups_known)
		known.groups = gpusort_known_groups_by(known.root, known.pathkeys,
											   known.input_rel->cheapest_total_path->rows,
											   known.groups);
	if (paths != NIL && known.groups > 0)
	{
		undercharged = undercharged_of(&known);
		outbid(paths, known.rel, &undercharged, DBL_MAX);
	}
	add_paths(known.rel, paths);
}

void
gpusort_offer_beside(RelOptInfo *rel, const List *paths, const List *left_out, Cost lacking)
{
	Undercharged undercharged = {.lacking = lacking};

	outbid(paths, rel, &undercharged, cheapest_of(left_out));
	add_paths(rel, paths);
}

/* ---------- whether ---------- */

/*
 * Returns the order that the steps above the groups want, which need no sort if the groups come in
 * the order of ours.
 */
static List *
order_above(const PlannerInfo *root)
{
	return root->window_pathkeys != NIL ? root->window_pathkeys :
		root->sort_pathkeys != NIL ? root->sort_pathkeys : root->distinct_pathkeys;
}

/*
 * Returns whether a path really costs no more than `least`, with the sort that it needs if it does
 * not come in the order wanted.
 */
static bool
is_no_dearer(const GpuSortGroupedRows *grouped, const Path *path, const Undercharged *undercharged,
			 Cost least)
{
	List	   *wanted = order_above(grouped->root);
	Cost		cost = path->total_cost;

	if (cost > least)
		return false;
	cost += Max(lacking_of(path, undercharged), 0);
	if (wanted != NIL && !pathkeys_contained_in(wanted, path->pathkeys))
		cost += gpusort_core_sort_cost(grouped->root, wanted, path->rows, path->pathtarget->width);
	return cost <= least;
}

/*
 * If the first rows are wanted (consider_startup), a path above a sort may be kept whatever it
 * costs, since rows that come in order may begin sooner than any others.
 */
bool
gpusort_plan_groups_might_be_kept(const GpuSortGroupedRows *grouped, const RelOptInfo *sorted_rel,
								  Cost lacking)
{
	const RelOptInfo *rel = grouped->rel;
	Undercharged undercharged;
	Cost		charged = DBL_MAX;
	Cost		real_cost = DBL_MAX;
	Cost		least;
	ListCell   *lc;

	if (gpusort_force)
		return true;
	if (sorted_rel->cheapest_total_path->rows < gpusort_min_rows)
		return false;
	if (rel->consider_startup || gpusort_is_disabled(linitial(rel->pathlist)))
		return true;
	undercharged = undercharged_of(grouped);
	find_lacking(rel, &undercharged, &charged, &real_cost);
	if (is_better(cheapest_other(rel, &undercharged), charged, real_cost))
		return true;
	least = gpusort_least_sorted_cost(sorted_rel, grouped->order,
									  sorted_rel == grouped->input_rel ? grouped->row_cost
									  : 0) - lacking;
	foreach(lc, rel->pathlist)
	{
		if (is_no_dearer(grouped, lfirst(lc), &undercharged, least))
			return false;
	}
	return true;
}
