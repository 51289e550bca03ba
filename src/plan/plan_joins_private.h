/*
 * plan_joins_private.h
 *		Paths of joins above sorts of ours.
 */
#ifndef GPUSORT_PLAN_JOINS_PRIVATE_H
#define GPUSORT_PLAN_JOINS_PRIVATE_H

#include "nodes/pathnodes.h"
#include "nodes/plannodes.h"

#include "pg_compat/paths.h"
#include "plan/plan_paths_private.h"

/* ---------- pairs ---------- */

/*
 * They are two relations that the planner joins, and whether ways of ours might pay.
 *
 * In a query of many tables most pairs are not worth a look.  So whatever is cheap to find out is
 * asked first, for all ways together.
 */

typedef struct GpuSortPair
{
	/* inputs, clauses and pathkeys are left to the callers, which make the paths */
	GpuSortMergeJoin join;
	/* its mergeclause_list, which is not NIL, has the clauses that could be merged by */
	JoinPathExtraData extra;
	RelOptInfo *outerrel;
	RelOptInfo *innerrel;
	List	   *orders;			/* pathkeys that the outer side could be merged by */

	/* might these ways cost less than the joins that there are? */
	bool		both_sorted;	/* merging all rows, both sides sorted by us */
	/* merging all rows, the outer side sorted by us, the inner one in order already */
	bool		outer_sorted;
	/* merging all rows, the inner side sorted by us, the outer one in order already */
	bool		inner_sorted;
	bool		partial;		/* merging each participant's rows */

	/*
	 * the inputs of both sides must cost less than this without being sorted: the real cost of the
	 * cheapest join that there is
	 */
	Cost		max_input_cost;
} GpuSortPair;

/*
 * Looks at two relations, given by set_join_pathlist_hook's arguments, and fills in *pair.  Returns
 * false if no join of ours pays.
 *
 * After the planner has called the hook for a semijoin, it calls it again for other ways to make
 * the same semijoin: with the sides exchanged, or as a join with the inner rows made unique.  *pair
 * is the semijoin each time, so that our paths are offered once more and compete with those, too.
 */
extern bool gpusort_look_at_pair(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel,
								 RelOptInfo *innerrel, JoinType jointype,
								 const JoinPathExtraData *extra, GpuSortPair *pair);

/*
 * Returns the clauses that could be merged by, as the planner finds them for its own merge joins;
 * the planner has none if these are switched off.
 */
extern List *gpusort_find_join_clauses(const GpuSortMergeJoin *merge, const RelOptInfo *outerrel,
									   const RelOptInfo *innerrel);

/*
 * Returns whether the relation might keep a path without parameters that has these costs, pathkeys
 * and workers; it is a partial path if it has workers.  If not, add_path() would refuse the path.
 */
extern bool gpusort_might_be_kept(const RelOptInfo *rel, const Path *path);

/*
 * Returns the same for a join of these inputs and pathkeys that costs at least so much.  Its cost
 * may be lowered (gpusort_outbid_join()).
 */
extern bool gpusort_plan_join_might_be_kept(const GpuSortMergeJoin *join, Cost startup_cost,
											Cost total_cost);

/* ---------- a bound: what joining all tables of a query costs at most ---------- */

/*
 * The planner finds the best order of joins from the bottom up, and considers joins of large tables
 * that would cost many times what the whole query costs in the end.  A greedy search, which joins
 * next what looks best, finds some order of joins beforehand, and its cost tells which joins are
 * not worth considering.
 */

/*
 * Returns the bound, or DBL_MAX if nothing is known.  The search ends when it has found a bound of
 * `enough` or less.
 */
extern Cost gpusort_plan_join_cost_limit(PlannerInfo *root, Cost enough);

/* ---------- sides of joins: what is found out about sorting a relation's rows, once ---------- */

/*
 * A relation is joined with others many times while the planner searches for the best order of
 * joins, and sorted by the same few columns.  What sorting it costs is estimated, and the path
 * made, when it is first wanted.
 */

/* Returns whether the relation has so many rows that sorting them is considered at all. */
extern bool gpusort_has_many_rows(const RelOptInfo *rel);

/* What a relation's rows cost at least; DBL_MAX if they can't be had in that way. */
typedef struct GpuSortLeastCosts
{
	Cost		sorted;			/* sorted by us, by any columns */
	Cost		in_order;		/* in some order, without a sort of ours */
	Cost		partial;		/* a participant's share of them in some order, sorted or not */
} GpuSortLeastCosts;

/* Returns what the relation's rows cost at least. */
extern const GpuSortLeastCosts *gpusort_side_least_costs(PlannerInfo *root, RelOptInfo *rel);

/* A relation and the pathkeys by which its rows are to be sorted. */
typedef struct GpuSortSide GpuSortSide;

/*
 * Returns a relation's side for these pathkeys.  The relation's cheapest paths must have been
 * found.  The side is kept in the relation's memory context, as long as the relation is there.
 */
extern GpuSortSide *gpusort_side(PlannerInfo *root, RelOptInfo *rel, List *pathkeys);

/*
 * Returns the cheapest path above a sort of ours, or NULL: if there is none, or the relation's
 * cheapest path is in order already.
 */
extern Path *gpusort_side_sorted(GpuSortSide *side);

/*
 * Returns the sort of a partial path's rows by all participants, which returns all rows to each, or
 * NULL if it is not worth it.
 */
extern const GpuSortSharedSort *gpusort_side_shared(GpuSortSide *side, Path *partial);

/* Returns the path of such a sort. */
extern Path *gpusort_side_shared_path(GpuSortSide *side, const GpuSortSharedSort *sort);

/*
 * Returns a scan of a table by so many workers, although the planner has found the table to be too
 * small for any.
 */
extern Path *gpusort_side_scan(GpuSortSide *side, int workers);

/*
 * Returns a partial path's rows, sorted by each participant for itself, or NULL if that is not
 * worth it.
 */
extern Path *gpusort_side_participants_path(GpuSortSide *side, Path *partial);

/* ---------- lookups: which entries of an index are visible ---------- */

/*
 * Returns the cost, for each entry of an index that is read in order, of finding out whether it is
 * visible, apart from reading pages of the table.  pinning_share is the share of entries for which
 * a page of the visibility map has to be pinned if the table is in another order.
 */
extern Cost gpusort_lookup_cost(PlannerInfo *root, const IndexOptInfo *index, double pinning_share,
								double participants);

/*
 * Returns what of that the planner has not charged the index-only scan that a path is, or reads, at
 * the bottom; 0 if there is none.
 */
extern Cost gpusort_lookup_extra_cost(PlannerInfo *root, const Path *path);

/* ---------- offers of joins, as of other paths (plan_paths_private.h) ---------- */

/*
 * Lowers the cost of a join of ours, which is not added yet, to just below what the cheapest join
 * was charged, if that join really costs more.  The cheapest join is sought among the partial paths
 * if ours has workers.
 *
 * A lowered cost hides what our join costs from joins that are planned above, which may mislead
 * their choice.  So it is done only where more is gained than is hidden, or where the query has no
 * other join.  In the latter case it is enough, too, that our join costs less than the others with
 * a sort above them, if that is all that the query wants of the order.
 */
extern void gpusort_outbid_join(PlannerInfo *root, RelOptInfo *joinrel, Path *path);

/*
 * Add a join's path, to the partial paths if it has workers.  gpusort_add_join() adds it as it is,
 * and gpusort_offer_join() after gpusort_outbid_join().
 */
extern void gpusort_add_join(RelOptInfo *joinrel, Path *path);
extern void gpusort_offer_join(PlannerInfo *root, RelOptInfo *joinrel, Path *path);

/*
 * The path of a GpuSort Join.  cost is what it really costs, whatever the planner is told in
 * custom.path.
 */
typedef struct GpuSortJoinPath
{
	CustomPath	custom;
	Cost		cost;
} GpuSortJoinPath;

/* ---------- ways: merge joins above our sorts, GpuSort Joins, GpuSort Index Joins ---------- */

/* Adds the paths of merge joins of a pair of relations. */
extern void gpusort_add_merge_join_paths(const GpuSortPair *pair);

/* Adds the paths of GpuSort Joins of a pair of relations. */
extern void gpusort_add_join_paths(const GpuSortPair *pair);

/*
 * Adds the path of a node of ours that will take the place of a merge join of these inputs: a
 * GpuSort Join, or a GpuSort Index Join above two indexes.  It gets the rows, costs, pathkeys and
 * workers of *path, and is a partial path if it has workers.  No path is made if it would not be
 * kept.
 */
extern void gpusort_add_unfinished_join(const GpuSortMergeJoin *merge, Path *path);

/* Adds the paths of GpuSort Index Joins.  The arguments are set_join_pathlist_hook's. */
extern void gpusort_add_leaf_join_paths(PlannerInfo *root, RelOptInfo *joinrel,
										RelOptInfo *outerrel, RelOptInfo *innerrel,
										JoinType jointype, JoinPathExtraData *extra);

#endif							/* GPUSORT_PLAN_JOINS_PRIVATE_H */
