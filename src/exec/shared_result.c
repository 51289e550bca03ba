/*
 * shared_result.c
 *		The result of a sort that several participants have collected, in each of them.
 *
 * Normally all of it lies in extents of the pool.  Then the participant that has sorted
 * publishes a view of it (sort_view.h), leaves the extents to the leader's owner, gives
 * back the rest, which is more, and reads the result like everybody else.
 *
 * If some of it is private memory, or if the sort was handed over to tuplesort: what goes
 * to everybody is written to a temporary file; what would go to one participant or
 * another all goes to the one who has sorted.  Neither is fast, nor often needed.
 *
 * Slices.  The result is divided into many more slices than there are participants, so
 * that all end at about the same time.  They are handed out in order; so whoever takes
 * them gets rows in order.  A slice begins at the first position from its nominal
 * one on where a group of rows begins that are equal in the first columns, which each
 * finds out for itself (sort_cuts.h).  If a group fills more than a slice, others are
 * empty.
 */
#include "postgres.h"

#include <fcntl.h>

#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "exec/exec_shared.h"
#include "settings.h"

#define RESULT_FILE				"gpusort.result"

/* Slices for each participant, unless they would have less rows than that. */
#define SLICES_PER_PARTICIPANT	8
#define MIN_SLICE_ROWS			4096

/* ... where sorts are forced, in tests that is, which have few rows. */
#define MIN_FORCED_SLICE_ROWS	16

/* A mapping that goes with its memory context. */
typedef struct MappedView
{
	GpuSortViewMapping mapping;
	MemoryContextCallback on_reset;
} MappedView;

/* ---------- publishing ---------- */

static uint32
number_of_slices(const GpuSortShared *shared)
{
	uint64		slice_rows = gpusort_force ? MIN_FORCED_SLICE_ROWS : MIN_SLICE_ROWS;
	uint64		slices = Min(shared->nrows / slice_rows,
							 shared->participants * SLICES_PER_PARTICIPANT);

	return (uint32) Max(slices, 1);
}

/* Write all rows to a file that others can open. */
static void
write_file(GpuSortShared *shared, GpuSort *sort, TupleDesc desc)
{
	BufFile    *file = BufFileCreateFileSet(&shared->files.fs, RESULT_FILE);
	TupleTableSlot *slot = MakeTupleTableSlot(desc, &TTSOpsMinimalTuple);
	GpuSortCursor cursor;

	gpusort_cursor_open_sort(&cursor, sort);
	while (gpusort_cursor_fetch(&cursor, true, slot))
	{
		bool		should_free;
		MinimalTuple tuple = ExecFetchSlotMinimalTuple(slot, &should_free);

		CHECK_FOR_INTERRUPTS();
		Assert(!should_free);
		BufFileWrite(file, tuple, tuple->t_len);
	}
	ExecClearTuple(slot);
	BufFileExportFileSet(file);
	BufFileClose(file);
}

void
gpusort_publish_result(GpuSortSharedState *node, GpuSort *sort, instr_time collect_time)
{
	GpuSortShared *shared = node->shared;

	shared->nrows = gpusort_rows(sort);
	shared->nslices = number_of_slices(shared);
	if (shared->nrows == 0 ||
		(node->parts != NULL && gpusort_leave_view(sort, gpusort_shared_view(shared))))
		shared->place = GPUSORT_RESULT_VIEW;
	else
		shared->place = node->slice_columns > 0 ? GPUSORT_RESULT_OWN : GPUSORT_RESULT_FILE;
	gpusort_make_report(sort, collect_time, &shared->report);
	if (shared->place == GPUSORT_RESULT_OWN)
	{
		node->sort = sort;
		return;
	}
	if (shared->place == GPUSORT_RESULT_FILE)
		write_file(shared, sort, ExecGetResultType(outerPlanState(node)));
	gpusort_end(sort);
}

/* ---------- finding it ---------- */

static void
unmap_view(void *arg)
{
	gpusort_detach_view(&((MappedView *) arg)->mapping);
}

/* Map the view; unmapped with the execution's memory. */
static void
map_view(GpuSortSharedState *node)
{
	MappedView *mapped = palloc0(sizeof(MappedView));
	GpuSortView *view = &node->view;

	mapped->on_reset.func = unmap_view;
	mapped->on_reset.arg = mapped;
	MemoryContextRegisterResetCallback(CurrentMemoryContext, &mapped->on_reset);
	if (!gpusort_attach_view(gpusort_shared_view(node->shared), view, &mapped->mapping))
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory"),
				 errdetail("Failed to map the rows of a shared sort.")));

	/* these lie in the shared memory, which goes earlier */
	if (view->places.granule_rows > 0)
	{
		Size		bytes = (view->places.granule_rows >> GPUSORT_GRANULE_SHIFT) * sizeof(size_t);

		view->places.granule_offsets = memcpy(palloc(bytes), view->places.granule_offsets, bytes);
	}
}

static void
find_view(GpuSortSharedState *node)
{
	gpusort_cursor_open_view(&node->cursor, &node->view);
	if (node->shared->nrows == 0)
		return;
	map_view(node);
	if (node->slice_columns == 0)
	{
		gpusort_cursor_limit(&node->cursor, 0, node->view.nrows);
		return;
	}
	node->in_slices = true;
	node->cutter = gpusort_begin_cuts(&node->view, ExecGetResultType(outerPlanState(node)),
									  &node->spec, node->slice_columns);
}

void
gpusort_find_result(GpuSortSharedState *node)
{
	MemoryContext old = MemoryContextSwitchTo(node->result_context);

	switch (node->shared->place)
	{
		case GPUSORT_RESULT_VIEW:
			find_view(node);
			break;
		case GPUSORT_RESULT_FILE:
			node->file = BufFileOpenFileSet(&node->shared->files.fs, RESULT_FILE, O_RDONLY,
											false);
			node->file_rows = node->shared->nrows;
			node->file_next = 0;
			break;
		case GPUSORT_RESULT_OWN:
			if (node->sort != NULL)
				gpusort_cursor_open_sort(&node->cursor, node->sort);
			else
				gpusort_cursor_open_view(&node->cursor, NULL);
			break;
	}
	MemoryContextSwitchTo(old);
}

void
gpusort_close_result(GpuSortSharedState *node)
{
	if (node->file != NULL)
		BufFileClose(node->file);
	node->file = NULL;
	if (node->sort != NULL)
		gpusort_end(node->sort);
	node->sort = NULL;
}

/* ---------- reading ---------- */

static uint64
slice_start(const GpuSortShared *shared, uint32 slice)
{
	return shared->nrows * slice / shared->nslices;
}

/* Take slices until one has rows; false if there are no more. */
static bool
claim_slice(GpuSortSharedState *node)
{
	GpuSortShared *shared = node->shared;

	while (shared != NULL && pg_atomic_read_u32(&shared->next_slice) < shared->nslices)
	{
		uint32		slice = pg_atomic_fetch_add_u32(&shared->next_slice, 1);
		uint64		from;
		uint64		end;

		if (slice >= shared->nslices)
			break;
		from = gpusort_find_cut(node->cutter, slice_start(shared, slice));
		end = gpusort_find_cut(node->cutter, slice_start(shared, slice + 1));
		if (from < end)
		{
			gpusort_cursor_limit(&node->cursor, from, end);
			return true;
		}
	}
	return false;
}

static void
read_file(BufFile *file, void *to, Size bytes)
{
	if (BufFileRead(file, to, bytes) != bytes)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read the result of a shared sort from its temporary file")));
}

static bool
fetch_from_file(GpuSortSharedState *node, TupleTableSlot *slot)
{
	uint32		len;

	ExecClearTuple(slot);
	if (node->file_next == node->file_rows)
		return false;
	read_file(node->file, &len, sizeof(len));
	if (len > node->file_row_size)
	{
		if (node->file_row != NULL)
			pfree(node->file_row);
		node->file_row_size = Max(len, 1024);
		node->file_row = MemoryContextAlloc(node->result_context, node->file_row_size);
	}
	node->file_row->t_len = len;
	read_file(node->file, (char *) node->file_row + sizeof(len), len - sizeof(len));
	node->file_next++;
	gpusort_store_tuple(slot, node->file_row);
	return true;
}

bool
gpusort_fetch_result(GpuSortSharedState *node, bool forward, TupleTableSlot *slot)
{
	if (unlikely(node->file != NULL))
		return fetch_from_file(node, slot);
	while (unlikely(!gpusort_cursor_fetch(&node->cursor, forward, slot)))
		if (!node->in_slices || !claim_slice(node))
			return false;
	return true;
}

static void
seek_file(GpuSortSharedState *node, int fileno, off_t offset, uint64 next)
{
	if (BufFileSeek(node->file, fileno, offset, SEEK_SET) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not seek in the temporary file of a shared sort")));
	node->file_next = next;
}

void
gpusort_rewind_result(GpuSortSharedState *node)
{
	if (node->file != NULL)
		seek_file(node, 0, 0, 0);
	else
		gpusort_cursor_rewind(&node->cursor);
}

void
gpusort_mark_result(GpuSortSharedState *node)
{
	if (node->file == NULL)
	{
		gpusort_cursor_mark(&node->cursor);
		return;
	}
	BufFileTell(node->file, &node->mark_fileno, &node->mark_offset);
	node->mark_file_next = node->file_next;
}

void
gpusort_restore_result(GpuSortSharedState *node)
{
	if (node->file == NULL)
		gpusort_cursor_restore(&node->cursor);
	else
		seek_file(node, node->mark_fileno, node->mark_offset, node->mark_file_next);
}
