/*
 * into_slices.c
 *		A sorted result into a table: what each process does that takes part; see
 *		into_slices.h.
 *
 * Pages are written after the turn has gone on.
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
#include "worker_fault.h"

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
	gpusort_turns_init(&task->turns);
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

/* It is the slice's turn: its pages are the next blocks. */
static void
place_pages(GpuSortIntoSlices *slices, GpuSortIntoPages *pages, uint64 slice)
{
	gpusort_into_claim_pages(pages);
	gpusort_turns_pass(&slices->task->turns, slice);
	gpusort_into_write_pages(pages);
}

/* Wait until it is the slice's turn; meanwhile the leader does what is left to it. */
static void
await_turn(GpuSortIntoSlices *slices, uint64 slice)
{
	uint64		left;

	while (!gpusort_turns_await(&slices->task->turns, slice, &left))
	{
		(void) fill_pages(slices, &slices->left, left);
		place_pages(slices, &slices->left.pages, left);
	}
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
	gpusort_turns_leave(&slices->task->turns, slice);
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
	bool		filled;

	gpusort_worker_fault("a slice of new rows");
	filled = slices->own.rows.may_fail ? try_fill_pages(slices, slice) : fill_pages(slices, &slices->own, slice);
	await_turn(slices, slice);
	if (filled)
		place_pages(slices, &slices->own.pages, slice);
	else
		gpusort_turns_leave(&slices->task->turns, slice);
}

void
gpusort_into_put_slices(GpuSortIntoSlices *slices)
{
	GpuSortIntoTask *task = slices->task;
	uint64		count = gpusort_out_slice_count(&task->slices);
	uint64		slice;

	while ((slice = gpusort_turns_take(&task->turns)) < count)
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
