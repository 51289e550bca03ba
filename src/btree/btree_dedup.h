/*
 * btree_dedup.h
 *		Equal neighbours of the sorted stream into posting lists.
 *
 * Tuples with equal keys are gathered until one comes that differs or the list is
 * as long as the server makes them in a build: a tenth of a page, so that pages
 * can still be split evenly.  One tuple stays as it is, several become one tuple
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
	IndexTuple	base;			/* first of the pending tuples, NULL if none */
	int			ntids;			/* pending */
	int			max_tids;		/* that base can take; at least 1 */
	char	   *kept;			/* where base is, if it was kept; NULL: none was ever */
	ItemPointerData tids[GPUSORT_DEDUP_MAX_TUPLE / sizeof(ItemPointerData)];
} GpuSortDedup;

/* TIDs of the longest posting list that begins with this tuple. */
static inline int
gpusort_dedup_max_tids(IndexTuple base)
{
	int			bytes = (int) GPUSORT_DEDUP_MAX_TUPLE - (int) IndexTupleSize(base);

	return Max(bytes / (int) sizeof(ItemPointerData), 1);
}

extern void gpusort_dedup_begin(GpuSortDedup *dedup, GpuSortLeafBuilder *leaf);

/* What is pending stays, its tuple needs not. */
extern void gpusort_dedup_keep(GpuSortDedup *dedup);

/* Put what is pending on the leaf page. */
extern void gpusort_dedup_flush(GpuSortDedup *dedup);

/*
 * Append a tuple, which must stay until the next flush or gpusort_dedup_keep(); `equal`: its key equals
 * that of the tuple before.
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
