/*
 * plan_undercharged.h
 *		Paths that the planner has charged too little for.
 *
 * Where ours costs less than such a path in truth, its cost is put below what that was charged,
 * and only then: against all others it competes by what it costs.
 */
#ifndef GPUSORT_PLAN_UNDERCHARGED_H
#define GPUSORT_PLAN_UNDERCHARGED_H

#include "nodes/pathnodes.h"

/*
 * Lower the costs of paths, a List of Path that are to be added to rel, if those in it that put
 * the input's rows into a hash table of so many groups, by these pathkeys, have been charged too
 * little; and more so than paths, if these have Agg nodes.
 */
extern void gpusort_outbid_hash_tables(const List *paths, RelOptInfo *rel,
									   const RelOptInfo *input_rel, double groups,
									   const List *pathkeys, bool have_agg);

/*
 * The same if all in it that are computed here lack so much, and so do those that were left out: with
 * them a server that others ask for its costs would have named less.
 */
extern void gpusort_outbid_all(const List *paths, RelOptInfo *rel, const List *left_out,
							   Cost lacking);

#endif							/* GPUSORT_PLAN_UNDERCHARGED_H */
