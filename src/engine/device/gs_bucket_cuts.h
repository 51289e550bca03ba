/*
 * gs_bucket_cuts.h
 *		The finished plan: cuts between shares, buckets, and the tree of bins.
 */
#ifndef GS_BUCKET_CUTS_H
#define GS_BUCKET_CUTS_H

#include "engine/device/gs_bucket_plan.h"

/*
 * Chooses the cuts and the buckets, once nothing is to be counted any more.  Returns GS_NO_SPACE if
 * a share would exceed the capacity, or memory is out.
 */
extern gs_status gs_plan_finish(gs_bucket_plan *plan);

/* Returns whether a leaf of equal keys was cut where a share begins. */
extern bool gs_plan_cut_ties(const gs_bucket_plan *plan, unsigned share);

/*
 * Finds how rows of the shares first_share to last_share get to their places.  These are at most
 * ndevices shares, and the first is a multiple of ndevices.  Sets the tree, and
 * positions[device][bin]: where the bin's rows that lie on each device begin, and for device ==
 * ndevices where the bin ends.  A bin of equal keys begins before the first share, or ends behind
 * the last, if its leaf was cut there; every other bin is in one bucket.  *digits is set if bins
 * are the digits of the root, so that the tile counts of its histogram can be used.
 */
extern void gs_plan_bins(const gs_bucket_plan *plan, unsigned first_share, unsigned last_share,
						 gs_bin_tree *tree, uint64_t (*positions)[GS_MAX_BINS], bool *digits);

#endif							/* GS_BUCKET_CUTS_H */
