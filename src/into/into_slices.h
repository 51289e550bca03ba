/*
 * into_slices.h
 *		Putting a sorted result into a table: what each participant does.
 *
 * The result is cut into slices.  Each participant takes one slice after the other and makes pages
 * of its rows.  The slices have turns, one after the other (heap_turns.h): in its turn, the pages
 * of a slice become the next blocks of the table.  So the table's rows lie in the order of the
 * result.
 */
#ifndef GPUSORT_INTO_SLICES_H
#define GPUSORT_INTO_SLICES_H

#include "bulk/out_source.h"
#include "heap/heap_turns.h"
#include "into/into_pages.h"
#include "into/into_rows.h"

/* What all participants know; in shared memory if there are workers. */
typedef struct GpuSortIntoTask
{
	Oid			table;
	GpuSortIntoHeader header;
	bool		in_use;			/* as in the GpuSortIntoTarget */
	bool		checked;
	GpuSortOutSlices slices;
	bool		stored;			/* the result's tuples have just the columns that it returns */
	GpuSortSharedFile file;
	GpuSortTurns turns;
} GpuSortIntoTask;

/* What makes pages of the rows of a slice. */
typedef struct GpuSortIntoFiller
{
	GpuSortIntoRows rows;
	GpuSortIntoPages pages;
} GpuSortIntoFiller;

/* The state of a participant. */
typedef struct GpuSortIntoSlices
{
	GpuSortIntoTask *task;
	bool		is_leader;
	bool		shared;			/* several participants put rows into the table */
	GpuSortStorage *storage;	/* of a new table, else NULL */
	GpuSortOutSource source;
	GpuSortIntoFiller own;
	GpuSortIntoFiller left;		/* in the leader, for a slice that was left to it */
	uint64		rows;			/* how many this participant has put */
} GpuSortIntoSlices;

extern void gpusort_into_init_task(GpuSortIntoTask *task, const GpuSortIntoTarget *target,
								   const GpuSortOutSlices *slices, bool stored);

/*
 * Begins to put rows, allocated in the current context.  View and table must stay open, and so must
 * the storage, if the table is new.
 */
extern void gpusort_into_begin_slices(GpuSortIntoSlices *slices, GpuSortIntoTask *task,
									  const GpuSortIntoTarget *target, GpuSortStorage *storage,
									  const GpuSortView *view, TupleDesc desc);

/* To be called before rows are put if several participants put them. */
extern void gpusort_into_share(GpuSortIntoSlices *slices);

/*
 * Puts slices into the table until there are none left.  In the leader, returns when the rows of
 * all slices are there.
 */
extern void gpusort_into_put_slices(GpuSortIntoSlices *slices);

extern void gpusort_into_end_slices(GpuSortIntoSlices *slices);

#endif							/* GPUSORT_INTO_SLICES_H */
