/*
 * into_slices.c
 *		Putting a sorted result into a table: what each participant does; see into_private.h.
 *
 * The pages of a slice are written after its turn, while other slices have theirs.
 *
 * Which row fails first must not depend on which participant comes to it.  So a worker that fails
 * at a row leaves its slice to the leader, who fails at the same row with PostgreSQL's error.  A
 * leader that fails in a slice of its own waits for the slice's turn before the error is raised.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/lwlock.h"

#include "into/into_private.h"
#include "team/workers.h"

void
gpusort_into_init_task(GpuSortIntoTask *task, const GpuSortIntoTarget *target,
					   const GpuSortSlices *slices, bool stored)
{
	memset(task, 0, sizeof(*task));
	task->table = RelationGetRelid(target->table);
	task->owner = target->owner;
	task->in_use = target->in_use;
	task->checked = target->checked;
	task->slices = *slices;
	task->stored = stored;
	gpusort_turns_init(&task->turns, gpusort_sort_slice_count(slices));
}

static void
begin_filler(GpuSortIntoSlices *slices, GpuSortIntoFiller *filler, const GpuSortIntoTarget *target,
			 TupleDesc desc)
{
	gpusort_into_begin_rows(&filler->rows, target, desc, slices->task->stored);
	filler->sink = gpusort_into_begin_sink(target, slices->storage);
	filler->toasted = false;
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
	gpusort_sort_slices_open_view(&slices->source, &task->slices, view, desc);
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
 * Returns whether rows may be toasted now.  Whoever decodes WAL wants to see the toasted values of
 * a page's rows between the page before and this one, so those of a table in use are toasted when
 * it is the slice's turn.  A leader without workers fills no slice before its turn.
 */
static inline bool
may_toast(const GpuSortIntoSlices *slices, const GpuSortIntoFiller *filler)
{
	return slices->is_leader &&
		(filler == &slices->left || !slices->shared || !slices->task->in_use);
}

/*
 * Fills pages with the rows of a slice.  Returns false if a row needs the toaster, which may not be
 * used.
 */
static bool
fill_pages(GpuSortIntoSlices *slices, GpuSortIntoFiller *filler, uint64 slice)
{
	GpuSortTableTail *tail = gpusort_table_sink_tail(filler->sink);
	uint64		rows = 0;

	gpusort_sort_slices_begin(&slices->source, slice);
	while (gpusort_sort_slices_next_row(&slices->source))
	{
		MinimalTuple tuple = gpusort_into_tuple(&filler->rows, slices->source.slot);

		if (!gpusort_into_put_tuple(tail, tuple))
		{
			if (!may_toast(slices, filler))
				return false;
			gpusort_into_put_toasted(tail, tuple);
			filler->toasted = true;
		}
		rows++;
	}
	slices->rows += rows;
	return true;
}

/* ---------- slices ---------- */

/* The functions of a GpuSortSliceDoer, whose argument is a participant's state. */

static bool make_slice(void *arg, uint64 slice, bool left);

/* Makes the pages of a slice the next blocks of the table. */
static void
place_slice(void *arg, bool left)
{
	GpuSortIntoSlices *slices = arg;

	gpusort_table_sink_place(left ? slices->left.sink : slices->own.sink, !left, false);
}

/* Writes the pages. */
static void
finish_slice(void *arg, bool left)
{
	GpuSortIntoSlices *slices = arg;
	GpuSortIntoFiller *filler = left ? &slices->left : &slices->own;

	gpusort_table_sink_write(filler->sink, false, filler->toasted);
	filler->toasted = false;
}

static void
forget_slice(void *arg)
{
	GpuSortIntoSlices *slices = arg;

	gpusort_table_sink_forget(slices->own.sink);
}

static GpuSortSliceDoer
slice_doer(GpuSortIntoSlices *slices)
{
	return (GpuSortSliceDoer) {
		.turns = &slices->task->turns, .arg = slices,
		.make = make_slice, .place = place_slice, .finish = finish_slice, .forget = forget_slice
	};
}

/*
 * Waits, after an error at a row of a slice, until that error may be raised; in a worker, it does
 * not return before all rows are put, or another error has ended the statement.  Nothing that is
 * done here needs a transaction, but locks that the error has left would be in the way of other
 * participants.
 */
static void
await_failure(GpuSortIntoSlices *slices, uint64 slice)
{
	GpuSortSliceDoer doer = slice_doer(slices);

	LWLockReleaseAll();
	UnlockBuffers();
	if (slices->is_leader)
		(void) gpusort_turns_await(&doer, slice);
	else
	{
		gpusort_turns_leave(doer.turns, slice);
		gpusort_turns_await_all(&doer);
	}
}

/* Does the same as fill_pages(), if a row may raise an error. */
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
		/* whoever cancels a process means the whole statement */
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

/* Fills the pages of a slice. */
static bool
make_slice(void *arg, uint64 slice, bool left)
{
	GpuSortIntoSlices *slices = arg;

	if (left)
		return fill_pages(slices, &slices->left, slice);
	gpusort_worker_fault("a slice of new rows");
	return slices->own.rows.may_fail ? try_fill_pages(slices, slice)
		: fill_pages(slices, &slices->own, slice);
}

void
gpusort_into_put_slices(GpuSortIntoSlices *slices)
{
	GpuSortSliceDoer doer = slice_doer(slices);

	gpusort_turns_do_slices(&doer);
	if (slices->storage != NULL)
		gpusort_storage_flush(slices->storage);
}

static void
end_filler(GpuSortIntoFiller *filler)
{
	gpusort_into_end_rows(&filler->rows);
	gpusort_table_sink_end(filler->sink);
}

void
gpusort_into_end_slices(GpuSortIntoSlices *slices)
{
	gpusort_sort_slices_close(&slices->source);
	end_filler(&slices->own);
	if (slices->is_leader)
		end_filler(&slices->left);
	if (slices->is_leader && slices->storage != NULL)
		gpusort_storage_finish(slices->storage);
}
