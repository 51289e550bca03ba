/*
 * plan_paths_private.h
 *		Paths of sorted rows, and of steps above the joins, and how they are offered.
 */
#ifndef GPUSORT_PLAN_PATHS_PRIVATE_H
#define GPUSORT_PLAN_PATHS_PRIVATE_H

#include <float.h>

#include "nodes/pathnodes.h"
#include "nodes/plannodes.h"

#include "cost/cost.h"

/* ---------- below: what is below a path ---------- */

/*
 * Returns the path whose rows a path takes, if there is exactly one; of a CustomPath, the first
 * one.  Returns NULL for joins, Appends, scans, and steps of other kinds.
 */
extern Path *gpusort_path_below(const Path *path);

/* Returns the paths whose rows an Append or a MergeAppend takes, or NIL for other paths. */
extern List *gpusort_appended_paths(const Path *path);

/* Returns whether there are paths directly below a path, and a test holds for all of them. */
extern bool gpusort_all_below(const Path *path, bool (*test) (const Path *));

/* Returns the input of a Sort or Incremental Sort, or the path itself if it is neither. */
extern Path *gpusort_below_sort(Path *path);

/* ---------- sorted: GpuSort paths over a relation's rows ---------- */

/*
 * Makes paths of rel, a List of Path, that sort the input's rows by pathkeys: one over the cheapest
 * path, which should not be in that order already, and one for each path that workers read.  The
 * paths have the targets of their inputs, and the caller adds them.  limit_rows is as in
 * gpusort_cost_until().
 */
extern List *gpusort_make_sorted_paths(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *rel,
									   List *pathkeys, double limit_rows);

/*
 * Makes a path that sorts the rows of a partial path in each participant; returns NULL if that is
 * not worth it.
 */
extern Path *gpusort_make_participants_path(PlannerInfo *root, RelOptInfo *rel, Path *partial,
											List *pathkeys);

/* Returns whether foreign servers compute what the path returns, such as groups. */
extern bool gpusort_is_computed_remotely(const Path *path);

/* Returns whether foreign servers deliver all order that the path has. */
extern bool gpusort_is_sorted_remotely(const Path *path);

/* ---------- shared: sorts by all participants of a parallel plan ---------- */

/* A sort of a partial path's rows by all participants of a parallel plan. */
typedef struct GpuSortSharedSort
{
	Path	   *partial;
	List	   *pathkeys;
	double		all_rows;		/* number of rows of all participants together */
	/*
	 * rows that are equal in so many leading pathkeys are in one slice; 0 if all rows go to each
	 * participant
	 */
	int			slice_columns;
	GpuSortEstimate estimate;	/* filled in by gpusort_plan_shared_worth_it() */
} GpuSortSharedSort;

/* Returns whether there may be shared sorts at all, which is cheap to ask first. */
extern bool gpusort_plans_shared(void);

/* Returns whether it is worth making a path for the sort, and fills in its estimate. */
extern bool gpusort_plan_shared_worth_it(PlannerInfo *root, GpuSortSharedSort *sort);

/*
 * Makes a path of rel for the sort.  It can be part of a partial path; if it is sliced, it is one.
 */
extern Path *gpusort_make_shared_path(PlannerInfo *root, RelOptInfo *rel,
									  const GpuSortSharedSort *sort);

/* ---------- slices: what plans above slices of a sort have in common ---------- */

/*
 *		Gather
 *		  -> WindowAgg, GroupAggregate
 *		    -> GpuSort Shared, sliced by leading columns of PARTITION BY, GROUP BY
 *		      -> partial path
 *
 * A node that looks at one group of rows at a time, and gets the groups in order, does its work in
 * every participant if no slice cuts a group.  Such plans are the planner's own serial ones with
 * another input: their nodes are copied, and the sort below the lowest of them is exchanged for the
 * shared one.
 */

typedef struct GpuSortSlices GpuSortSlices;

/* Makes a path above slices->sort, each time that one is needed. */
typedef Path *(*GpuSortMakePath) (const GpuSortSlices *slices, const void *original);

/*
 * A sort, and what is to stand above it: a shared sort of the cheapest partial path of a relation,
 * whose result is cut into slices; or, for the leader's own paths, a sort of all rows.
 */
struct GpuSortSlices
{
	/* set by the caller */
	PlannerInfo *root;
	RelOptInfo *rel;			/* upper relation that the paths are for */
	GpuSortMakePath make;
	const void *original;		/* what make() needs to know besides this */
	/* what a row costs above the sort that the leader's own paths have not been charged */
	Cost		saved_row_cost;
	/* number of groups that slices don't cut; 0 if statistics are to tell */
	double		groups;

	/* the sort */
	Path	   *sort;
	double		all_rows;
	double		fraction;		/* share of all rows that a participant gets on average */
	/* share of all rows that the busiest participant gets, which is at least one group */
	double		share;
};

/* Returns how many leading pathkeys stand for one of these sort or group clauses each. */
extern int	gpusort_count_leading_keys(PlannerInfo *root, List *clauses, List *pathkeys);

/*
 * Fills in the sort.  Returns false if there is no shared sort whose slices leave so many leading
 * pathkeys together, or it is not worth it.
 */
extern bool gpusort_make_slices(GpuSortSlices *slices, RelOptInfo *input_rel, List *pathkeys,
								int slice_columns);

/*
 * Adapts a copied path to its new input: what the node itself costs is divided among the
 * participants.  All fields but those of Path are left to the caller.
 */
extern void gpusort_share_path(const GpuSortSlices *slices, Path *copy, const Path *old_input,
							   Path *input);

/*
 * Makes the leader's own paths, a List of Path: one above each of our sorts of all rows of a
 * relation by these pathkeys.
 */
extern List *gpusort_make_whole_paths(const GpuSortSlices *slices, RelOptInfo *input_rel,
									  List *pathkeys);

/*
 * Makes slices as gpusort_make_slices() does, offers a partial path above them to the upper
 * relation, if that is possible, and returns paths with a Gather above it, a List of Path, for the
 * caller to add; there are none if there are no slices.
 *
 * The cost of a Gather is lowered by what its workers save of saved_row_cost.  *cost becomes what
 * the path with the Gather costs if each row is charged what it takes in a Gather.
 */
extern List *gpusort_offer_sliced(GpuSortSlices *slices, RelOptInfo *input_rel, List *pathkeys,
								  int slice_columns, Cost *cost);

/* The cost if no slices are offered. */
#define GPUSORT_NO_SLICES	DBL_MAX

/* Returns those of the leader's own paths, a List of Path, that cost less than slices do. */
extern List *gpusort_cheaper_paths(List *paths, Cost sliced);

/* ---------- unique rows ---------- */

/*
 * Makes the path of a Unique by ncolumns columns above one of our sorts, which returns so many
 * rows.  If these are all of the sort's columns, it is charged for what our node will take.
 */
extern Path *gpusort_make_unique_sorted_path(PlannerInfo *root, RelOptInfo *rel, Path *sorted,
											 int ncolumns, double rows);

/* ---------- offers ---------- */

/*
 * They are paths for the planner, which has charged too little for some of its own.
 *
 * How much too little a path has been charged is called what it is lacking.  A path of ours that
 * really costs less than an undercharged one gets a cost just below what that one was charged, so
 * that it wins.  Against all other paths it competes by what it costs.
 */

/*
 * Rows that are put into groups, or made distinct, by these pathkeys.  Hash tables of such groups
 * are charged too little, and more so where the paths that they compete with have Agg nodes.
 */
typedef struct GpuSortGroupedRows
{
	PlannerInfo *root;
	RelOptInfo *rel;			/* relation of the groups */
	RelOptInfo *input_rel;		/* relation of the rows */
	List	   *pathkeys;
	double		groups;			/* expected number; 0 if none is known */
	bool		groups_known;	/* groups comes from statistics, and is not guessed */
	bool		have_agg;

	/* about paths above sorts of ours */
	List	   *order;			/* pathkeys of the sorts */
	Cost		row_cost;		/* charged for each row that the sorts return, at least */
} GpuSortGroupedRows;

/*
 * Returns whether a path above a sort of ours might be kept among the paths that grouped->rel has.
 * sorted_rel has the rows to be sorted: the input's, or what workers have made of theirs.  lacking
 * is how much too little the paths that there are have been charged, apart from what their hash
 * tables lack.
 */
extern bool gpusort_plan_groups_might_be_kept(const GpuSortGroupedRows *grouped,
											  const RelOptInfo *sorted_rel, Cost lacking);

/*
 * Offers paths above sorts of a relation's rows, given as Lists of Path: the leader's own, and
 * those above slices, of which the cheapest costs sliced_cost if rows are charged what they take in
 * a Gather.
 *
 * The leader's own paths are left out if they cost more than that: the planner would prefer them
 * only because parallel_tuple_cost keeps it from having workers return many rows.  The costs of our
 * paths are lowered if those of hash tables have been charged too little; if the number of groups
 * is 0, that is not known of any.  The caller makes all paths before this adds the first, which may
 * free a path of the planner's that others are copies of.
 */
extern void gpusort_offer_paths(const GpuSortGroupedRows *grouped, List *own, List *sliced,
								Cost sliced_cost);

/*
 * Offers paths beside those of a relation, each of which has been charged so much too little
 * (lacking) if it is computed in this server.
 *
 * The paths in left_out lack as much.  They are not offered, but the cheapest of them counts as if
 * rel had it: if another server had asked this one for its costs, it would have been told that
 * path's.
 */
extern void gpusort_offer_beside(RelOptInfo *rel, const List *paths, const List *left_out,
								 Cost lacking);

/* ---------- steps: paths above a GpuSort for what the query wants, competing by cost ---------- */

/* ORDER BY: adds paths that sort the input's rows by root->sort_pathkeys. */
extern void gpusort_add_order_by_paths(PlannerInfo *root, RelOptInfo *input_rel,
									   RelOptInfo *ordered_rel);

/*
 * ORDER BY with a LIMIT: adds paths that sort a base relation, a table below joins, by what the
 * query wants in the end, if that may pay.
 */
extern void gpusort_add_early_paths(PlannerInfo *root, RelOptInfo *rel);

/*
 * Removes paths of a join above such sorts that would take far too long if few rows have partners.
 */
extern void gpusort_drop_long_loops(PlannerInfo *root, RelOptInfo *joinrel);

/*
 * DISTINCT and DISTINCT ON: adds paths that sort the input's rows and leave out rows that equal the
 * one before.
 */
extern void gpusort_add_distinct_paths(PlannerInfo *root, RelOptInfo *input_rel,
									   RelOptInfo *distinct_rel);

/*
 * UNION, INTERSECT and EXCEPT: adds our paths to a set operation's relation, which has the
 * planner's already.
 */
extern void gpusort_add_setop_paths(PlannerInfo *root, RelOptInfo *setop_rel);

/*
 * GROUP BY: adds paths that sort the input's rows and group neighbours, in the leader or in
 * workers, and paths for aggregates over distinct or ordered values.  extra is what the planner's
 * hook gets.
 */
extern void gpusort_add_group_by_paths(PlannerInfo *root, RelOptInfo *input_rel,
									   RelOptInfo *grouped_rel, const GroupPathExtraData *extra);

/*
 * Window functions: adds paths above sorts of ours, and paths whose window functions are computed
 * by parallel workers.
 */
extern void gpusort_add_window_paths(PlannerInfo *root, RelOptInfo *input_rel,
									 RelOptInfo *window_rel);

#endif							/* GPUSORT_PLAN_PATHS_PRIVATE_H */
