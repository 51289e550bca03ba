/*
 * btree_dedup.h
 *		Turns equal neighbours of the sorted stream into posting lists.
 *
 * Tuples with equal keys are gathered until a tuple comes that differs, or the list is
 * as long as the server makes it in a build: a tenth of a page, so that pages
 * can still be split evenly.  A single tuple stays as it is.  Several become one tuple
 * with the first one's key and all TIDs, formed in place on the leaf page.
 */
#ifndef GPUSORT_BTREE_DEDUP_H
#define GPUSORT_BTREE_DEDUP_H

#include "access/itup.h"
#include "storage/itemptr.h"

#include "btree/btree_leaf.h"

/* Bytes of the longest tuple with a posting list that a build forms. */
#define GPUSORT_DEDUP_MAX_TUPLE \
	(MAXALIGN_DOWN(MAXALIGN_DOWN(BLCKSZ * 10 / 100) - sizeof(ItemIdData)))

typedef struct GpuSortDedup
{
	GpuSortLeafBuilder *leaf;
	IndexTuple	base;			/* the first pending tuple, NULL if none */
	int			ntids;			/* pending TIDs */
	int			max_tids;		/* most TIDs that a list with base's key can have; at least 1 */
	char	   *kept;			/* buffer for a copy of base; NULL: not allocated yet */
	ItemPointerData tids[GPUSORT_DEDUP_MAX_TUPLE / sizeof(ItemPointerData)];
} GpuSortDedup;

/* Returns how many TIDs the longest posting list has that begins with this tuple. */
static inline int
gpusort_dedup_max_tids(IndexTuple base)
{
	int			bytes = (int) GPUSORT_DEDUP_MAX_TUPLE - (int) IndexTupleSize(base);

	return Max(bytes / (int) sizeof(ItemPointerData), 1);
}

/* Begins, with nothing pending. */
extern void gpusort_dedup_begin(GpuSortDedup *dedup, GpuSortLeafBuilder *leaf);

/* Copies the first pending tuple, so that the caller may free all that were added. */
extern void gpusort_dedup_keep(GpuSortDedup *dedup);

/* Puts the pending tuples on the leaf page. */
extern void gpusort_dedup_flush(GpuSortDedup *dedup);

/*
 * Adds a tuple, which must stay where it is until the next gpusort_dedup_flush() or
 * gpusort_dedup_keep().  `equal` tells that its key equals that of the tuple before.
 */
static inline void
gpusort_dedup_add(GpuSortDedup *dedup, IndexTuple tuple, bool equal)
{
	if (equal && dedup->ntids < dedup->max_tids)
	{
		dedup->tids[dedup->ntids++] = tuple->t_tid;
		return;
	}
	if (dedup->ntids == 1)
		gpusort_leaf_add(dedup->leaf, dedup->base);
	else
		gpusort_dedup_flush(dedup);

	dedup->base = tuple;
	dedup->tids[0] = tuple->t_tid;
	dedup->ntids = 1;
	dedup->max_tids = gpusort_dedup_max_tids(tuple);
}

#endif							/* GPUSORT_BTREE_DEDUP_H */
