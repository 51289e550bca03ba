/*
 * index_levels.h
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
#ifndef GPUSORT_INDEX_LEVELS_H
#define GPUSORT_INDEX_LEVELS_H

#include "postgres.h"

#include "access/itup.h"

#include "btree/index_storage.h"

/* Far more than the 2^32 blocks of a relation can need, at 3 tuples a page. */
#define INDEX_MAX_LEVELS	32

typedef struct IndexLevel IndexLevel;

typedef struct IndexLevels
{
	IndexStorage *storage;
	int			height;			/* levels begun; level 1 is the lowest */
	IndexLevel *level[INDEX_MAX_LEVELS];
} IndexLevels;

extern void index_levels_begin(IndexLevels *levels, IndexStorage *storage);

/* Add the downlink to a leaf, leaves in order.  Sets the tuple's downlink. */
extern void index_levels_add(IndexLevels *levels, IndexTuple low_key, BlockNumber leaf);

/*
 * Complete the open pages.  Returns the root; *height is its level.  There has
 * been at least one downlink.
 */
extern BlockNumber index_levels_finish(IndexLevels *levels, uint32 *height);

/* Write the metapage, for the root at this level. */
extern void index_levels_write_metapage(IndexLevels *levels, BlockNumber root, uint32 height,
										bool allequalimage);

#endif							/* GPUSORT_INDEX_LEVELS_H */
