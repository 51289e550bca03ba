/*
 * plan_offer.h
 *		Offering paths to the planner, which has charged too little for some of its own.
 *
 * How much too little a path has been charged is called what it is lacking.  A path of ours that
 * really costs less than an undercharged one gets a cost just below what that one was charged, so
 * that it wins.  Against all other paths it competes by what it costs.
 */
#ifndef GPUSORT_PLAN_OFFER_H
#define GPUSORT_PLAN_OFFER_H

#include "nodes/pathnodes.h"

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
extern bool gpusort_groups_might_be_kept(const GpuSortGroupedRows *grouped,
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

/*
 * Returns what the cheapest of these joins really costs, which is the first one without parameters:
 * the planner does not charge a hash join for waiting for its table.  Returns DBL_MAX if there is
 * none to compare with.
 */
extern Cost gpusort_join_in_truth(const List *paths);

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

#endif							/* GPUSORT_PLAN_OFFER_H */
