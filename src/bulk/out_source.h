/*
 * out_source.h
 *		Reads rows in numbered slices, which are divided among several processes.
 *
 * All slices, one after the other, are the rows of a sorted result, or of a table in the order of
 * its blocks.
 */
#ifndef GPUSORT_OUT_SOURCE_H
#define GPUSORT_OUT_SOURCE_H

#include "access/relscan.h"
#include "executor/tuptable.h"
#include "utils/relcache.h"

#include "exec/exec_cursor.h"

/* What there is to read.  Has no pointers, so that it can be passed to other processes. */
typedef struct GpuSortOutSlices
{
	Oid			table;			/* InvalidOid if a sorted result is read */
	uint64		from;			/* first position of the result, or block of the table */
	uint64		to;
	uint64		step;			/* positions or blocks in each slice */
} GpuSortOutSlices;

/* The state of a process that reads. */
typedef struct GpuSortOutSource
{
	GpuSortOutSlices slices;
	TupleTableSlot *slot;		/* slot for rows */

	/* if a sorted result is read */
	GpuSortView view;
	GpuSortCursor cursor;

	/* if a table is read */
	TableScanDesc scan;
} GpuSortOutSource;

/* Returns the number of slices. */
static inline uint64
gpusort_out_slice_count(const GpuSortOutSlices *slices)
{
	return (slices->to - slices->from + slices->step - 1) / slices->step;
}

/* Returns whether the table can be read in slices by several processes. */
extern bool gpusort_out_can_slice(Relation table);

/*
 * Open a sorted result or a table, in the current memory context.  The view's memory must stay
 * mapped, and the table open, until gpusort_out_close_source().
 */
extern void gpusort_out_open_view(GpuSortOutSource *source, const GpuSortOutSlices *slices,
								  const GpuSortView *view, TupleDesc desc);
extern void gpusort_out_open_table(GpuSortOutSource *source, const GpuSortOutSlices *slices,
								   Relation table);
extern void gpusort_out_close_source(GpuSortOutSource *source);

/* Begin to read a slice.  The slice that was read before need not have been read to its end. */
extern void gpusort_out_begin_slice(GpuSortOutSource *source, uint64 number);

/* Get the slice's next row into the slot.  Returns false if there is none. */
extern bool gpusort_out_next_row(GpuSortOutSource *source);

#endif							/* GPUSORT_OUT_SOURCE_H */
