/*
 * into_slices.h
 *		A sorted result into a table: what each process does that takes part.
 *
 * Each makes pages of slices of the rows, whose turn it is to become the next blocks of the table one after the
 * other (heap_turns.h).  So rows lie in order.
 */
#ifndef GPUSORT_INTO_SLICES_H
#define GPUSORT_INTO_SLICES_H

#include "bulk/out_source.h"
#include "heap/heap_turns.h"
#include "into/into_pages.h"
#include "into/into_rows.h"

/* In shared memory, if there are workers. */
typedef struct GpuSortIntoTask
{
	Oid			table;
	GpuSortIntoHeader header;
	bool		in_use;			/* of the table's description, what a worker needs */
	bool		checked;
	GpuSortOutSlices slices;
	bool		stored;			/* the rows are stored with the columns that are returned */
	GpuSortSharedFile file;
	GpuSortTurns turns;
} GpuSortIntoTask;

/* What makes pages of a slice. */
typedef struct GpuSortIntoFiller
{
	GpuSortIntoRows rows;
	GpuSortIntoPages pages;
} GpuSortIntoFiller;

/* A process. */
typedef struct GpuSortIntoSlices
{
	GpuSortIntoTask *task;
	bool		is_leader;
	bool		shared;			/* by several processes */
	GpuSortStorage *storage;	/* of a new table */
	GpuSortOutSource source;
	GpuSortIntoFiller own;
	GpuSortIntoFiller left;		/* for a slice that was left to its turn, in the leader */
	uint64		rows;			/* put */
} GpuSortIntoSlices;

extern void gpusort_into_init_task(GpuSortIntoTask *task, const GpuSortIntoTarget *target,
								   const GpuSortOutSlices *slices, bool stored);

/* In the current context; view, table and its storage, if it is new, stay. */
extern void gpusort_into_begin_slices(GpuSortIntoSlices *slices, GpuSortIntoTask *task,
									  const GpuSortIntoTarget *target, GpuSortStorage *storage,
									  const GpuSortView *view, TupleDesc desc);

/* Several processes write the table. */
extern void gpusort_into_share(GpuSortIntoSlices *slices);

/* Put slices into the table until there are none.  The leader returns when all are there. */
extern void gpusort_into_put_slices(GpuSortIntoSlices *slices);

extern void gpusort_into_end_slices(GpuSortIntoSlices *slices);

#endif							/* GPUSORT_INTO_SLICES_H */
