/*
 * gs_bucket_cuts.h
 *		The finished plan: cuts between shares, buckets, and the tree of bins.
 */
#ifndef GS_BUCKET_CUTS_H
#define GS_BUCKET_CUTS_H

#include "engine/device/gs_bucket_plan.h"

/*
 * Draw the cuts and the buckets, once nothing is wanted any more.  GS_NO_SPACE
 * when a share would exceed the capacity.
 */
extern gs_status gs_plan_finish(gs_bucket_plan *plan);

/* Was a leaf of equal keys cut where a share begins? */
extern bool gs_plan_cut_ties(const gs_bucket_plan *plan, unsigned share);

/*
 * How rows of the shares [first, last], at most ndevices of them from a multiple
 * of it on, find their places: the tree, and positions[device][bin], where the
 * bin's rows begin that lie on each device, and end for device == ndevices.  A
 * bin of equal keys begins before the first share, or ends behind the last, when
 * these were cut apart; every other bin is in one bucket.  *digits is true if bins
 * are the digits of the root, so that the tile counts of its histogram serve.
 */
extern void gs_plan_bins(const gs_bucket_plan *plan, unsigned first_share, unsigned last_share,
						 gs_bin_tree *tree, uint64_t (*positions)[GS_MAX_BINS], bool *digits);

#endif							/* GS_BUCKET_CUTS_H */
