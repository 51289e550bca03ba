/*
 * btree_levels.h
 *		Builds the levels above the leaves, bottom up.
 *
 * Each level has one open page, which its next downlink is added to.  When the
 * open page is full it gets a right sibling, which becomes the open page, and its
 * own downlink is added to the level above, which is begun if need be.  All pages
 * to the left of the open one are complete, so memory is a page or two for each
 * level however large the index.
 *
 * Pages are filled to 70 %, nbtree's fixed fillfactor for internal pages.  The first
 * tuple of a page has no key: it stands for minus infinity.  The key that it had
 * becomes the left sibling's high key and the key of the page's own downlink.
 */
#ifndef GPUSORT_BTREE_LEVELS_H
#define GPUSORT_BTREE_LEVELS_H

#include "access/itup.h"

#include "btree/btree_storage.h"

/* Far more than the 2^32 blocks of a relation can need, at 3 tuples a page. */
#define GPUSORT_MAX_LEVELS	32

typedef struct GpuSortLevel GpuSortLevel;

typedef struct GpuSortLevels
{
	GpuSortStorage *storage;
	int			height;			/* number of levels begun; level 1 is above the leaves */
	GpuSortLevel *level[GPUSORT_MAX_LEVELS];
} GpuSortLevels;

/* Begins with no levels. */
extern void gpusort_levels_begin(GpuSortLevels *levels, GpuSortStorage *storage);

/*
 * Adds the downlink to a leaf; leaves come in order.  low_key is a pivot tuple with the leaf's low
 * key, whose downlink is set here.
 */
extern void gpusort_levels_add(GpuSortLevels *levels, IndexTuple low_key, BlockNumber leaf);

/*
 * Completes the open pages.  Returns the root's block and sets *height to its
 * level.  At least one downlink must have been added.
 */
extern BlockNumber gpusort_levels_finish(GpuSortLevels *levels, uint32 *height);

/* Writes the metapage, for a root of level `height`. */
extern void gpusort_levels_write_metapage(GpuSortLevels *levels, BlockNumber root, uint32 height,
										  bool allequalimage);

#endif							/* GPUSORT_BTREE_LEVELS_H */
