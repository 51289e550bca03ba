/*
 * sort_slices.h
 *		Reads rows in numbered slices, which are divided among several processes.
 *
 * All slices, one after the other, are the rows of a sorted result, or of a table in the order of
 * its blocks.
 */
#ifndef GPUSORT_SORT_SLICES_H
#define GPUSORT_SORT_SLICES_H

#include "access/relscan.h"
#include "executor/tuptable.h"
#include "utils/relcache.h"

#include "sort/sort_cursor.h"

/* What there is to read.  Has no pointers, so that it can be passed to other processes. */
typedef struct GpuSortSlices
{
	Oid			table;			/* InvalidOid if a sorted result is read */
	uint64		from;			/* first position of the result, or block of the table */
	uint64		to;
	uint64		step;			/* positions or blocks in each slice */
} GpuSortSlices;

/* The state of a process that reads. */
typedef struct GpuSortSliceReader
{
	GpuSortSlices slices;
	TupleTableSlot *slot;		/* slot for rows */

	/* if a sorted result is read */
	GpuSortView view;
	GpuSortCursor cursor;

	/* if a table is read */
	TableScanDesc scan;
} GpuSortSliceReader;

/* Returns the number of slices. */
static inline uint64
gpusort_sort_slice_count(const GpuSortSlices *slices)
{
	return (slices->to - slices->from + slices->step - 1) / slices->step;
}

/* Returns whether the table can be read in slices by several processes. */
extern bool gpusort_sort_can_slice(Relation table);

/*
 * Open a sorted result or a table, in the current memory context.  The view's memory must stay
 * mapped, and the table open, until gpusort_sort_slices_close().
 */
extern void gpusort_sort_slices_open_view(GpuSortSliceReader *reader, const GpuSortSlices *slices,
									  const GpuSortView *view, TupleDesc desc);
extern void gpusort_sort_slices_open_table(GpuSortSliceReader *reader, const GpuSortSlices *slices,
									   Relation table);
extern void gpusort_sort_slices_close(GpuSortSliceReader *reader);

/* Begin to read a slice.  The slice that was read before need not have been read to its end. */
extern void gpusort_sort_slices_begin(GpuSortSliceReader *reader, uint64 number);

/* Get the slice's next row into the slot.  Returns false if there is none. */
extern bool gpusort_sort_slices_next_row(GpuSortSliceReader *reader);

#endif							/* GPUSORT_SORT_SLICES_H */
