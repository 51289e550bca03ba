/*
 * btree_dedup.c
 *		Turns equal neighbours of the sorted stream into posting lists; see btree_dedup.h.
 */
#include "postgres.h"

#include "access/nbtree.h"

#include "btree/btree_dedup.h"

void
gpusort_dedup_begin(GpuSortDedup *dedup, GpuSortLeafBuilder *leaf)
{
	dedup->leaf = leaf;
	dedup->base = NULL;
	dedup->ntids = 0;
	dedup->max_tids = 0;
	dedup->kept = NULL;
}

void
gpusort_dedup_keep(GpuSortDedup *dedup)
{
	if (dedup->base == NULL || (char *) dedup->base == dedup->kept)
		return;
	if (dedup->kept == NULL)
		dedup->kept = palloc(INDEX_SIZE_MASK + 1);
	memcpy(dedup->kept, dedup->base, IndexTupleSize(dedup->base));
	dedup->base = (IndexTuple) dedup->kept;
}

static void
form_posting_tuple(GpuSortDedup *dedup)
{
	Size		key_bytes = IndexTupleSize(dedup->base);
	Size		tid_bytes = dedup->ntids * sizeof(ItemPointerData);
	Size		size = MAXALIGN(key_bytes + tid_bytes);
	char	   *place = gpusort_leaf_append(dedup->leaf, size, size - key_bytes);
	IndexTuple	tuple = (IndexTuple) place;

	memcpy(place, dedup->base, key_bytes);
	tuple->t_info = (tuple->t_info & ~INDEX_SIZE_MASK) | size;
	BTreeTupleSetPosting(tuple, dedup->ntids, key_bytes);
	memcpy(place + key_bytes, dedup->tids, tid_bytes);
	memset(place + key_bytes + tid_bytes, 0, size - key_bytes - tid_bytes);
}

void
gpusort_dedup_flush(GpuSortDedup *dedup)
{
	if (dedup->ntids > 1)
		form_posting_tuple(dedup);
	else if (dedup->ntids == 1)
		gpusort_leaf_add(dedup->leaf, dedup->base);
	dedup->base = NULL;
	dedup->ntids = 0;
	dedup->max_tids = 0;
}
