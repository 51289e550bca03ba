/*
 * into_slices.c
 *		A sorted result into a table: what each process does that takes part; see
 *		into_slices.h.
 *
 * Slices are taken in order, so the one whose turn it is has been taken by somebody who is filling
 * its pages, or has left it to the leader.  Pages are written after the turn has gone on.
 *
 * Which row fails first must not depend on who comes to it.  So a worker that fails leaves its slice
 * to the leader, who fails at that row with PostgreSQL's error, and the leader, before it fails in a
 * slice of its own, waits for its turn.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/lwlock.h"

#include "into/into_slices.h"
#include "pg_compat.h"

/* How often a leader that waits looks whether workers are still there. */
#define LOST_WAIT_MS	1000

static uint32 wait_event = 0;

void
gpusort_into_init_task(GpuSortIntoTask *task, const GpuSortIntoTarget *target,
					   const GpuSortOutSlices *slices, bool stored)
{
	memset(task, 0, sizeof(*task));
	task->table = RelationGetRelid(target->table);
	task->header = target->header;
	task->in_use = target->in_use;
	task->checked = target->checked;
	task->slices = *slices;
	task->stored = stored;
	pg_atomic_init_u64(&task->next_slice, 0);
	SpinLockInit(&task->mutex);
	ConditionVariableInit(&task->turned);
}

static void
begin_filler(GpuSortIntoSlices *slices, GpuSortIntoFiller *filler, const GpuSortIntoTarget *target,
			 TupleDesc desc)
{
	gpusort_into_begin_rows(&filler->rows, target, desc, slices->task->stored);
	gpusort_into_begin_pages(&filler->pages, target, slices->storage);
}

void
gpusort_into_begin_slices(GpuSortIntoSlices *slices, GpuSortIntoTask *task,
						  const GpuSortIntoTarget *target, GpuSortStorage *storage,
						  const GpuSortView *view, TupleDesc desc)
{
	memset(slices, 0, sizeof(*slices));
	slices->task = task;
	slices->is_leader = !IsParallelWorker();
	slices->storage = storage;
	gpusort_out_open_view(&slices->source, &task->slices, view, desc);
	begin_filler(slices, &slices->own, target, desc);
	if (slices->is_leader)
		begin_filler(slices, &slices->left, target, desc);
}

void
gpusort_into_share(GpuSortIntoSlices *slices)
{
	slices->shared = true;
	if (slices->storage != NULL)
		gpusort_storage_share(slices->storage, &slices->task->file);
}

/* ---------- pages ---------- */

/*
 * May rows be toasted now?  The decoder of WAL wants to see the values of a page's rows between the page
 * before and this one, so those of a table in use are toasted when it is the slice's turn.  A leader without
 * workers fills no slice before its turn.
 */
static inline bool
may_toast(const GpuSortIntoSlices *slices, const GpuSortIntoFiller *filler)
{
	return slices->is_leader && (filler == &slices->left || !slices->shared || !slices->task->in_use);
}

/* Fill pages with the rows of a slice; false if they have to be toasted, and may not. */
static bool
fill_pages(GpuSortIntoSlices *slices, GpuSortIntoFiller *filler, uint64 slice)
{
	GpuSortIntoPages *pages = &filler->pages;
	uint64		rows = 0;

	gpusort_out_begin_slice(&slices->source, slice);
	while (gpusort_out_next_row(&slices->source))
	{
		MinimalTuple tuple = gpusort_into_tuple(&filler->rows, slices->source.slot);

		if (!gpusort_into_put_tuple(pages, tuple))
		{
			if (!may_toast(slices, filler))
			{
				gpusort_into_drop_pages(pages);
				return false;
			}
			gpusort_into_put_toasted(pages, tuple);
		}
		rows++;
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
	gpusort_into_claim_pages(pages);
	set_turn(slices->task, slice + 1, false);
	gpusort_into_write_pages(pages);
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
			(void) fill_pages(slices, &slices->left, turn);
			place_pages(slices, &slices->left.pages, turn);
		}
		else
			await_change(slices);
	}
	ConditionVariableCancelSleep();
}

/* ---------- slices ---------- */

/*
 * A row has failed: nothing that is done here needs a transaction, but locks that the error has left are
 * in others' way.  Does not return before all rows are put, or another error has ended the statement.
 */
static void
await_failure(GpuSortIntoSlices *slices, uint64 slice)
{
	LWLockReleaseAll();
	UnlockBuffers();
	await_turn(slices, slice);
	if (slices->is_leader)
		return;
	set_turn(slices->task, slice, true);
	await_turn(slices, gpusort_out_slice_count(&slices->task->slices));
}

/* The same as fill_pages(), whichever row fails. */
static bool
try_fill_pages(GpuSortIntoSlices *slices, uint64 slice)
{
	MemoryContext context = CurrentMemoryContext;
	volatile bool filled = false;

	PG_TRY();
	{
		filled = fill_pages(slices, &slices->own, slice);
	}
	PG_CATCH();
	{
		/* who cancels a process means the statement */
		if (geterrcode() != ERRCODE_QUERY_CANCELED)
		{
			MemoryContext error = MemoryContextSwitchTo(context);

			await_failure(slices, slice);
			MemoryContextSwitchTo(error);
		}
		PG_RE_THROW();
	}
	PG_END_TRY();
	return filled;
}

static void
put_slice(GpuSortIntoSlices *slices, uint64 slice)
{
	bool		filled = slices->own.rows.may_fail ? try_fill_pages(slices, slice)
		: fill_pages(slices, &slices->own, slice);

	await_turn(slices, slice);
	if (filled)
		place_pages(slices, &slices->own.pages, slice);
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
	if (slices->storage != NULL)
		gpusort_storage_flush(slices->storage);
}

static void
end_filler(GpuSortIntoFiller *filler)
{
	gpusort_into_end_rows(&filler->rows);
	gpusort_into_end_pages(&filler->pages);
}

void
gpusort_into_end_slices(GpuSortIntoSlices *slices)
{
	gpusort_out_close_source(&slices->source);
	end_filler(&slices->own);
	if (slices->is_leader)
		end_filler(&slices->left);
	if (slices->is_leader && slices->storage != NULL)
		gpusort_storage_finish(slices->storage);
}
