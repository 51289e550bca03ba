/*
 * btree_levels.h
 *		The levels above the leaves, bottom up.
 *
 * Each level has one page open.  A downlink goes to the page of its level; when
 * that page is full it gets a right sibling, and its own downlink goes one level
 * up, where the level is begun if need be.  Since pages are only ever completed
 * to the left of what is open, memory is a page or two for each level however
 * large the index.
 *
 * Pages are filled to 70 %, nbtree's fixed fillfactor here.  The first tuple of
 * a page has no key: it stands for minus infinity, and the key it had is the left
 * sibling's high key and the key of the page's own downlink.
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
	int			height;			/* levels begun; level 1 is the lowest */
	GpuSortLevel *level[GPUSORT_MAX_LEVELS];
} GpuSortLevels;

extern void gpusort_levels_begin(GpuSortLevels *levels, GpuSortStorage *storage);

/* Add the downlink to a leaf, leaves in order.  Sets the tuple's downlink. */
extern void gpusort_levels_add(GpuSortLevels *levels, IndexTuple low_key, BlockNumber leaf);

/*
 * Complete the open pages.  Returns the root; *height is its level.  There has
 * been at least one downlink.
 */
extern BlockNumber gpusort_levels_finish(GpuSortLevels *levels, uint32 *height);

/* Write the metapage, for the root at this level. */
extern void gpusort_levels_write_metapage(GpuSortLevels *levels, BlockNumber root, uint32 height,
										  bool allequalimage);

#endif							/* GPUSORT_BTREE_LEVELS_H */
