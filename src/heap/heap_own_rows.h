/*
 * heap_own_rows.h
 *		Reads the rows that a command has put into a table, in the order of their TIDs.
 *
 * Other transactions may have put rows between them.
 */
#ifndef GPUSORT_HEAP_OWN_ROWS_H
#define GPUSORT_HEAP_OWN_ROWS_H

#include "access/htup_details.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"

#include "heap/heap_owner.h"

typedef struct GpuSortOwnRows
{
	Relation	heap;
	GpuSortAppendOwner owner;
	BufferAccessStrategy strategy;
	BlockNumber next;			/* next block to be read */
	BlockNumber end;
	PGAlignedBlock page;		/* a copy of the page before `next` */
	int			count;			/* number of the command's rows in this page */
	int			at;
	OffsetNumber offsets[MaxHeapTuplesPerPage];
} GpuSortOwnRows;

/* Returns the first block that rows appended from now on can go to. */
extern BlockNumber gpusort_own_rows_first_block(Relation heap);

/* Returns whether a row was put by this owner. */
extern bool gpusort_row_is_own(const GpuSortAppendOwner *owner, HeapTupleHeader row);

/*
 * Begin to read the rows that this owner has put, from block `from` on.  None of these rows may be
 * changed any more.
 */
extern void gpusort_own_rows_begin(GpuSortOwnRows *rows, Relation heap,
								   const GpuSortAppendOwner *owner, BlockNumber from);

/* Get the next row, which stays valid until the next call.  Returns false if there is none. */
extern bool gpusort_own_rows_next(GpuSortOwnRows *rows, HeapTuple tuple);

/* Release what does not go away with the memory context: the strategy. */
extern void gpusort_own_rows_end(GpuSortOwnRows *rows);

#endif							/* GPUSORT_HEAP_OWN_ROWS_H */
