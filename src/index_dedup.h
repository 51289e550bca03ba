/*
 * index_dedup.h
 *		Equal neighbours of the sorted stream into posting lists.
 *
 * Tuples with equal keys are gathered until one comes that differs or the list is
 * as long as the server makes them in a build: a tenth of a page, so that pages
 * can still be split evenly.  One tuple stays as it is, several become one tuple
 * with the first one's key and all TIDs, formed in place on the leaf page.
 */
#ifndef GPUSORT_INDEX_DEDUP_H
#define GPUSORT_INDEX_DEDUP_H

#include "postgres.h"

#include "access/itup.h"
#include "storage/itemptr.h"

#include "index_leaf.h"

/* Bytes of the longest tuple with a posting list that a build forms. */
#define INDEX_DEDUP_MAX_TUPLE \
	(MAXALIGN_DOWN(MAXALIGN_DOWN(BLCKSZ * 10 / 100) - sizeof(ItemIdData)))

typedef struct IndexDedup
{
	IndexLeafBuilder *leaf;
	IndexTuple	base;			/* first of the pending tuples, NULL if none */
	int			ntids;			/* pending */
	int			max_tids;		/* that base can take; at least 1 */
	ItemPointerData tids[INDEX_DEDUP_MAX_TUPLE / sizeof(ItemPointerData)];
	char	   *held;			/* copy of base, see index_dedup_hold() */
} IndexDedup;

extern void index_dedup_begin(IndexDedup *dedup, IndexLeafBuilder *leaf);

/* Put what is pending on the leaf page. */
extern void index_dedup_flush(IndexDedup *dedup);

/* What is pending is kept, though the caller's tuples go away. */
extern void index_dedup_hold(IndexDedup *dedup);

/* Append a tuple; `equal`: its key equals that of the tuple before. */
static inline void
index_dedup_add(IndexDedup *dedup, IndexTuple tuple, bool equal)
{
	int			key_bytes;

	if (equal && dedup->ntids < dedup->max_tids)
	{
		dedup->tids[dedup->ntids++] = tuple->t_tid;
		return;
	}
	if (dedup->ntids == 1)
		index_leaf_add(dedup->leaf, dedup->base);
	else
		index_dedup_flush(dedup);

	key_bytes = IndexTupleSize(tuple);
	dedup->base = tuple;
	dedup->tids[0] = tuple->t_tid;
	dedup->ntids = 1;
	dedup->max_tids = ((int) INDEX_DEDUP_MAX_TUPLE - key_bytes) / (int) sizeof(ItemPointerData);
}

#endif							/* GPUSORT_INDEX_DEDUP_H */
