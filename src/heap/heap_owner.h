/*
 * heap_owner.h
 *		Whose rows they are that others put into a table.
 */
#ifndef GPUSORT_HEAP_OWNER_H
#define GPUSORT_HEAP_OWNER_H

#include "access/htup_details.h"
#include "access/transam.h"
#include "utils/rel.h"

typedef struct GpuSortAppendOwner
{
	TransactionId xid;
	CommandId	cid;
	bool		frozen;			/* they are everybody's at once: the table is new, and nobody else has it */
} GpuSortAppendOwner;

/* Whose inserts a page of nothing but such rows is to be pruned after, as gpusort_heap_page_begin() wants to know. */
static inline TransactionId
gpusort_heap_inserter(const GpuSortAppendOwner *owner)
{
	return owner->frozen ? InvalidTransactionId : owner->xid;
}

/* What all tuples begin with; t_infomask2, t_infomask and t_hoff are to be completed. */
static inline void
gpusort_heap_begin_header(HeapTupleHeader header, Relation heap, const GpuSortAppendOwner *owner)
{
	memset(header, 0, SizeofHeapTupleHeader);
	HeapTupleHeaderSetXmin(header, owner->xid);
	HeapTupleHeaderSetCmin(header, owner->cid);
	header->t_infomask = HEAP_XMAX_INVALID;
	if (owner->frozen)
		HeapTupleHeaderSetXminFrozen(header);
	HeapTupleHeaderSetNatts(header, RelationGetNumberOfAttributes(heap));
}

#endif							/* GPUSORT_HEAP_OWNER_H */
