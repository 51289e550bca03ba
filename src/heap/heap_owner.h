/*
 * heap_owner.h
 *		Says which transaction and command own rows that are put into a table.
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
	/* rows are frozen, as the table is new and no other transaction can see it */
	bool		frozen;
} GpuSortAppendOwner;

/*
 * Returns the transaction that gpusort_heap_page_begin() wants to know, for a page that has only
 * rows of this owner.
 */
static inline TransactionId
gpusort_heap_inserter(const GpuSortAppendOwner *owner)
{
	return owner->frozen ? InvalidTransactionId : owner->xid;
}

/*
 * Fill in the header that all tuples begin with.  The caller has to complete t_infomask2,
 * t_infomask and t_hoff of each tuple.
 */
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
