/*
 * heap_own_rows.h
 *		The rows that a command has put into a table, in the order of their TIDs.
 *
 * Others may have put theirs between them.
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
	BlockNumber next;			/* to be read */
	BlockNumber end;
	PGAlignedBlock page;		/* a copy of the one before */
	int			count;			/* of rows in it */
	int			at;
	OffsetNumber offsets[MaxHeapTuplesPerPage];
} GpuSortOwnRows;

/* The first block that rows can go to which are appended from now on. */
extern BlockNumber gpusort_own_rows_first_block(Relation heap);

/* Was a row put by this owner? */
extern bool gpusort_row_is_own(const GpuSortAppendOwner *owner, HeapTupleHeader row);

/* Rows that were put by this owner, none of which is changed any more, into blocks from this one on. */
extern void gpusort_own_rows_begin(GpuSortOwnRows *rows, Relation heap, const GpuSortAppendOwner *owner, BlockNumber from);

/* The next one, which stays until the one behind it is asked for; false: there is none. */
extern bool gpusort_own_rows_next(GpuSortOwnRows *rows, HeapTuple tuple);

extern void gpusort_own_rows_end(GpuSortOwnRows *rows);

#endif							/* GPUSORT_HEAP_OWN_ROWS_H */
