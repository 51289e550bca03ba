/*
 * cost_hash.h
 *		What PostgreSQL's hash tables cost beyond the planner's estimate.
 */
#ifndef GPUSORT_COST_HASH_H
#define GPUSORT_COST_HASH_H

#include "nodes/pathnodes.h"

/* Of a hash join: waiting for the table. */
extern Cost gpusort_hash_join_extra_cost(const HashPath *hash);

/*
 * Of groups: so many rows, of so many groups, each kept as a tuple of width bytes.  Where participants
 * make groups of their rows first (1: none do), the lesser of both ways.
 */
extern Cost gpusort_hash_extra_cost(double rows, double groups, int width, int participants);

#endif							/* GPUSORT_COST_HASH_H */
