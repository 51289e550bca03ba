/*
 * into_pages.c
 *		Putting the rows of a slice into pages of a table; see into_pages.h.
 *
 * The rules are those of heap_insert() and what it calls: a page ends before the first tuple that
 * would leave less of it free than the fillfactor wants, and rows that are long, or have values out
 * of line, go through the toaster.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/heaptoast.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "into/into_pages.h"

/* The bytes of a heap tuple's header before what it has in common with a MinimalTuple. */
#define OWN_HEADER_BYTES	offsetof(HeapTupleHeaderData, t_infomask2)

void
gpusort_into_begin_pages(GpuSortIntoPages *pages, const GpuSortIntoTarget *target,
						 GpuSortStorage *storage)
{
	const GpuSortAppendOwner owner = {.xid = target->header.xmin,.cid = target->header.cmin,
		.frozen = target->header.frozen};

	memset(pages, 0, sizeof(*pages));
	pages->table = target->table;
	pages->header = target->header;
	pages->row_context = AllocSetContextCreate(CurrentMemoryContext, "gpusort row",
											   ALLOCSET_DEFAULT_SIZES);
	if (target->in_use)
	{
		pages->append = gpusort_append_begin(target->table, &owner);
		return;
	}
	gpusort_new_pages_begin(&pages->fresh, target->table, storage, gpusort_heap_inserter(&owner));
}

/* Returns room for a tuple, on the last page or a new one. */
static inline HeapTupleHeader
append(GpuSortIntoPages *pages, uint32 length)
{
	return pages->append != NULL ? gpusort_append_tuple(pages->append, length)
		: gpusort_new_pages_append(&pages->fresh, length);
}

/* Fills the header of a row as heap_insert() does, except t_ctid, which is set later. */
static inline void
fill_header(HeapTupleHeader tuple, const GpuSortIntoHeader *header)
{
	tuple->t_infomask &= ~HEAP_XACT_MASK;
	tuple->t_infomask2 &= ~HEAP2_XACT_MASK;
	tuple->t_infomask |= HEAP_XMAX_INVALID;
	HeapTupleHeaderSetXmin(tuple, header->xmin);
	if (header->frozen)
		HeapTupleHeaderSetXminFrozen(tuple);
	HeapTupleHeaderSetCmin(tuple, header->cmin);
	HeapTupleHeaderSetXmax(tuple, InvalidTransactionId);
}

/* Copies a stored tuple to where a heap tuple of "length" bytes will be. */
static inline void
copy_tuple(HeapTupleHeader to, const MinimalTuple tuple, uint32 length)
{
	memcpy((char *) to + OWN_HEADER_BYTES,
		   (const char *) tuple - MINIMAL_TUPLE_OFFSET + OWN_HEADER_BYTES,
		   length - OWN_HEADER_BYTES);
}

bool
gpusort_into_put_tuple(GpuSortIntoPages *pages, MinimalTuple tuple)
{
	uint32		length = tuple->t_len + MINIMAL_TUPLE_OFFSET;
	HeapTupleHeader placed;

	if (unlikely((tuple->t_infomask & HEAP_HASEXTERNAL) != 0 || length > TOAST_TUPLE_THRESHOLD))
		return false;
	placed = append(pages, length);
	copy_tuple(placed, tuple, length);
	fill_header(placed, &pages->header);
	return true;
}

void
gpusort_into_put_toasted(GpuSortIntoPages *pages, MinimalTuple stored)
{
	MemoryContext old = MemoryContextSwitchTo(pages->row_context);
	HeapTuple	tuple = heap_tuple_from_minimal_tuple(stored);
	int			options = pages->append != NULL ? 0
		: HEAP_INSERT_SKIP_FSM | (pages->header.frozen ? HEAP_INSERT_FROZEN : 0);
	HeapTupleHeader placed;

	pages->toasted = true;
	tuple->t_tableOid = RelationGetRelid(pages->table);
	ItemPointerSetInvalid(&tuple->t_self);
	ItemPointerSetInvalid(&tuple->t_data->t_ctid);
	fill_header(tuple->t_data, &pages->header);
	tuple = heap_toast_insert_or_update(pages->table, tuple, NULL, options);
	if (MAXALIGN(tuple->t_len) > MaxHeapTupleSize)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("row is too big: size %zu, maximum size %zu",
						MAXALIGN(tuple->t_len), MaxHeapTupleSize)));
	MemoryContextSwitchTo(old);
	placed = append(pages, tuple->t_len);
	memcpy(placed, tuple->t_data, tuple->t_len);
	MemoryContextReset(pages->row_context);
}

void
gpusort_into_drop_pages(GpuSortIntoPages *pages)
{
	if (pages->append != NULL)
		gpusort_append_forget(pages->append);
	else
		gpusort_new_pages_drop(&pages->fresh);
}

void
gpusort_into_claim_pages(GpuSortIntoPages *pages)
{
	if (pages->append != NULL)
		gpusort_append_claim(pages->append);
	else
		gpusort_new_pages_claim(&pages->fresh);
}

void
gpusort_into_write_pages(GpuSortIntoPages *pages)
{
	if (pages->append != NULL)
		gpusort_append_write(pages->append, false, pages->toasted);
	else
		gpusort_new_pages_write(&pages->fresh);
	pages->toasted = false;
}

void
gpusort_into_end_pages(GpuSortIntoPages *pages)
{
	if (pages->append != NULL)
		gpusort_append_end(pages->append);
}
