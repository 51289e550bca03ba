/*
 * sort_handover.c
 *		Going on in PostgreSQL's tuplesort; see spill_private.h.
 *
 * This is the only fallback of the host side: whatever stops a sort, the rows put so far move into
 * a tuplesort, which has work_mem of its own and spills to disk, and everything that follows goes
 * there.  The sort's own memory is given back while the rows move, so that the sum stays within
 * what a sort is allowed plus work_mem.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/tuplesort.h"

#include "interrupts.h"
#include "runs/runs.h"
#include "sort/memory_private.h"
#include "sort/rows_private.h"
#include "sort/service_private.h"
#include "sort/spill_private.h"
#include "sort/state_private.h"

/* Moves the rows of all runs into the tuplesort. */
static void
move_runs(GpuSort *sort)
{
	GpuSortSpill *spill = sort->runs.spill;
	TupleTableSlot *slot = gpusort_row_slot(sort);
	GpuSortRunReader reader;

	if (spill->file != NULL)
		gpusort_read_run_file(spill, spill->file);
	spill->file = NULL;
	gpusort_run_reader_init(&reader);
	for (uint32 i = 0; i < spill->nread; i++)
		for (uint32 r = 0; r < spill->read[i]->nruns; r++)
		{
			const GpuSortRun *run = &spill->read[i]->runs[r];
			MinimalTuple tuple;

			gpusort_run_reader_begin(&reader, run, run->blocks[0], run->blocks[run->nblocks]);
			while ((tuple = gpusort_run_reader_next(&reader)) != NULL)
			{
				ExecStoreMinimalTuple(tuple, slot, false);
				tuplesort_puttupleslot(sort->tuplesort, slot);
			}
		}
	ExecClearTuple(slot);
	gpusort_run_reader_free(&reader);

	/* other files may still be written, by processes that collect rows for the sort */
	while (spill->nread > 0)
		gpusort_drop_run_file(sort, 0);
	spill->rows = 0;
}

/* Moves rows that are made of their keys into the tuplesort. */
static void
move_key_rows(GpuSort *sort)
{
	TupleTableSlot *slot = gpusort_row_slot(sort);
	GpuSortRowRoom room;

	for (uint64 id = 0; id < sort->rows.count; id++)
	{
		if (id % GPUSORT_INTERRUPT_ROWS == 0)
			CHECK_FOR_INTERRUPTS();
		gpusort_make_key_row(sort, (uint32) id, &room);
		ExecStoreMinimalTuple((MinimalTuple) &room, slot, false);
		tuplesort_puttupleslot(sort->tuplesort, slot);
	}
	ExecClearTuple(slot);
	gpusort_discard_planes(sort);
	sort->rows.count = 0;
}

void
gpusort_move_to_tuplesort(GpuSort *sort)
{
	GpuSortRows *rows = &sort->rows;
	TupleTableSlot *slot = gpusort_row_slot(sort);
	bool		in_order = sort->stats.joined_rows == 0;
	size_t		discarded = 0;

	if (gpusort_has_runs(sort))
		move_runs(sort);
	if (rows->count == 0)
		return;
	if (sort->key_rows.used)
	{
		move_key_rows(sort);
		return;
	}
	gpusort_discard_planes(sort);
	for (uint64 id = 0; id < rows->count; id++)
	{
		MinimalTuple tuple = gpusort_row_at(&rows->places, (uint32) id);

		if (in_order)
			gpusort_discard_read_rows(rows, &discarded, tuple);
		else if (id % GPUSORT_INTERRUPT_ROWS == 0)
			CHECK_FOR_INTERRUPTS();
		ExecStoreMinimalTuple(tuple, slot, false);
		tuplesort_puttupleslot(sort->tuplesort, slot);
	}
	ExecClearTuple(slot);
	gpusort_range_discard(rows->store, discarded, rows->store->usable);
	gpusort_range_discard(rows->refs, 0, rows->refs->usable);
	rows->count = 0;
	rows->used = 0;
}

void
gpusort_hand_over(GpuSort *sort, GpuSortHandover why)
{
	MemoryContext old = MemoryContextSwitchTo(sort->context);
	int			options = TUPLESORT_NONE;

	gpusort_sort_service_end(sort);
	gpusort_release_reordered(sort);
	gpusort_forget_encoders(sort);
	gpusort_forget_trim(sort);
	sort->stats.handover = why;
	sort->stats.handover_rows = sort->rows.count;
	if (sort->random_access)
		options |= TUPLESORT_RANDOMACCESS;
	if (sort->bound.rows > 0)
		options |= TUPLESORT_ALLOWBOUNDED;
	if (sort->runs.spill != NULL)
		sort->stats.handover_rows += sort->runs.spill->rows;
	sort->tuplesort = tuplesort_begin_heap(sort->desc, sort->spec.nkeys, sort->spec.attnos,
										   sort->spec.sortops, sort->spec.collations,
										   sort->spec.nulls_first, work_mem, NULL, options);
	if (sort->bound.rows > 0)
		tuplesort_set_bound(sort->tuplesort, (int64) sort->bound.rows);
	MemoryContextSwitchTo(old);
	(void) gpusort_show_enter(sort, GPUSORT_PHASE_CORE);
	gpusort_move_to_tuplesort(sort);
}
