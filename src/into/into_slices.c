/*
 * into_slices.c
 *		A sorted result into a new table: what each process does that takes part; see
 *		into_slices.h.
 *
 * Slices are taken in order, so the one whose turn it is has been taken by somebody who is filling
 * its pages, or has left it to the leader.  Pages are written after the turn has gone on.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "miscadmin.h"

#include "into/into_slices.h"
#include "pg_compat.h"
#include "pg_compat/executor.h"

/* How often a leader that waits looks whether workers are still there. */
#define LOST_WAIT_MS	1000

static uint32 wait_event = 0;

void
gpusort_into_init_task(GpuSortIntoTask *task, Relation table, const GpuSortIntoHeader *header,
					   const GpuSortOutSlices *slices, bool stored)
{
	memset(task, 0, sizeof(*task));
	task->table = RelationGetRelid(table);
	task->header = *header;
	task->slices = *slices;
	task->stored = stored;
	pg_atomic_init_u64(&task->next_slice, 0);
	SpinLockInit(&task->mutex);
	ConditionVariableInit(&task->turned);
}

void
gpusort_into_begin_slices(GpuSortIntoSlices *slices, GpuSortIntoTask *task, Relation table,
						  GpuSortStorage *storage, const GpuSortView *view, TupleDesc desc)
{
	memset(slices, 0, sizeof(*slices));
	slices->task = task;
	slices->is_leader = !IsParallelWorker();
	slices->storage = storage;
	gpusort_out_open_view(&slices->source, &task->slices, view, desc);
	gpusort_into_begin_pages(&slices->pages, table, storage, &task->header);
	if (slices->is_leader)
		gpusort_into_begin_pages(&slices->left_pages, table, storage, &task->header);
}

void
gpusort_into_share(GpuSortIntoSlices *slices)
{
	gpusort_storage_share(slices->storage, &slices->task->file);
}

/* ---------- pages ---------- */

static inline MinimalTuple
current_tuple(GpuSortIntoSlices *slices)
{
	TupleTableSlot *slot = slices->source.slot;
	MemoryContext old;
	MinimalTuple tuple;

	if (likely(slices->task->stored))
		return ((MinimalTupleTableSlot *) slot)->mintuple;
	slot_getallattrs(slot);
	old = MemoryContextSwitchTo(slices->pages.row_context);
	tuple = gpusort_form_minimal_row(slot);
	MemoryContextSwitchTo(old);
	return tuple;
}

/* Fill pages with the rows of a slice; false if they take what only the leader has. */
static bool
fill_pages(GpuSortIntoSlices *slices, GpuSortIntoPages *pages, uint64 slice)
{
	uint64		rows = 0;

	gpusort_out_begin_slice(&slices->source, slice);
	while (gpusort_out_next_row(&slices->source))
	{
		MinimalTuple tuple = current_tuple(slices);

		if (!gpusort_into_put_tuple(pages, tuple))
		{
			if (!slices->is_leader)
			{
				gpusort_into_drop_pages(pages);
				return false;
			}
			gpusort_into_put_toasted(pages, tuple);
		}
		rows++;
		if (!slices->task->stored)
			MemoryContextReset(slices->pages.row_context);
	}
	slices->rows += rows;
	return true;
}

/* ---------- turns ---------- */

static void
look_at_turn(GpuSortIntoTask *task, uint64 *turn, bool *left)
{
	SpinLockAcquire(&task->mutex);
	*turn = task->turn;
	*left = task->left;
	SpinLockRelease(&task->mutex);
}

static void
set_turn(GpuSortIntoTask *task, uint64 turn, bool left)
{
	SpinLockAcquire(&task->mutex);
	task->turn = turn;
	task->left = left;
	SpinLockRelease(&task->mutex);
	ConditionVariableBroadcast(&task->turned);
}

/* It is the slice's turn: its pages are the next blocks. */
static void
place_pages(GpuSortIntoSlices *slices, GpuSortIntoPages *pages, uint64 slice)
{
	BlockNumber first = 0;

	if (pages->count > 0)
		first = gpusort_storage_claim(slices->storage, pages->count);
	set_turn(slices->task, slice + 1, false);
	gpusort_into_write_pages(pages, first);
}

/* Wait for a change; a worker that was lost reports nothing, so the leader has it looked for. */
static void
await_change(GpuSortIntoSlices *slices)
{
	if (ConditionVariableTimedSleep(&slices->task->turned, LOST_WAIT_MS,
									gpusort_wait_event(&wait_event, "GpuSortIntoTurn")) &&
		slices->is_leader)
	{
		ParallelMessagePending = true;
		InterruptPending = true;
		CHECK_FOR_INTERRUPTS();
	}
}

/* Wait until it is the slice's turn; meanwhile the leader does what is left to it. */
static void
await_turn(GpuSortIntoSlices *slices, uint64 slice)
{
	GpuSortIntoTask *task = slices->task;

	for (;;)
	{
		uint64		turn;
		bool		left;

		look_at_turn(task, &turn, &left);
		if (turn == slice && !left)
			break;
		if (left && slices->is_leader)
		{
			ConditionVariableCancelSleep();
			(void) fill_pages(slices, &slices->left_pages, turn);
			place_pages(slices, &slices->left_pages, turn);
		}
		else
			await_change(slices);
	}
	ConditionVariableCancelSleep();
}

/* ---------- slices ---------- */

static void
put_slice(GpuSortIntoSlices *slices, uint64 slice)
{
	bool		filled = fill_pages(slices, &slices->pages, slice);

	await_turn(slices, slice);
	if (filled)
		place_pages(slices, &slices->pages, slice);
	else
		set_turn(slices->task, slice, true);
}

void
gpusort_into_put_slices(GpuSortIntoSlices *slices)
{
	GpuSortIntoTask *task = slices->task;
	uint64		count = gpusort_out_slice_count(&task->slices);
	uint64		slice;

	while ((slice = pg_atomic_fetch_add_u64(&task->next_slice, 1)) < count)
		put_slice(slices, slice);
	if (slices->is_leader)
		await_turn(slices, count);
	gpusort_storage_flush(slices->storage);
}

void
gpusort_into_end_slices(GpuSortIntoSlices *slices)
{
	gpusort_out_close_source(&slices->source);
	if (slices->is_leader)
		gpusort_storage_finish(slices->storage);
}
