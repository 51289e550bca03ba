/*
 * out_source.h
 *		Rows in numbered slices, which several processes read, each some of them.
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

/* What there is to read.  Plain memory, so that it can be passed to other processes. */
typedef struct GpuSortOutSlices
{
	Oid			table;			/* InvalidOid: a sorted result */
	uint64		from;			/* positions of the result, blocks of the table */
	uint64		to;
	uint64		step;			/* so many in each slice */
} GpuSortOutSlices;

/* A process that reads. */
typedef struct GpuSortOutSource
{
	GpuSortOutSlices slices;
	TupleTableSlot *slot;		/* shows a row */

	/* a sorted result */
	GpuSortView view;
	GpuSortCursor cursor;

	/* or a table */
	TableScanDesc scan;
} GpuSortOutSource;

static inline uint64
gpusort_out_slice_count(const GpuSortOutSlices *slices)
{
	return (slices->to - slices->from + slices->step - 1) / slices->step;
}

/* Can tables like that be read so? */
extern bool gpusort_out_can_slice(Relation table);

/* In the current memory context; the view's memory, or the table, stays. */
extern void gpusort_out_open_view(GpuSortOutSource *source, const GpuSortOutSlices *slices,
								  const GpuSortView *view, TupleDesc desc);
extern void gpusort_out_open_table(GpuSortOutSource *source, const GpuSortOutSlices *slices,
								   Relation table);
extern void gpusort_out_close_source(GpuSortOutSource *source);

/* Read a slice from its first row on; the one before has been read to its end. */
extern void gpusort_out_begin_slice(GpuSortOutSource *source, uint64 number);

/* The next row of it into the slot; false if there is none. */
extern bool gpusort_out_next_row(GpuSortOutSource *source);

#endif							/* GPUSORT_OUT_SOURCE_H */
