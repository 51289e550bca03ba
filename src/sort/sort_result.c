/*
 * sort_result.c
 *		The result of a sort, as one process reads it; see sort_result.h.
 *
 * Normally the whole result of a sort whose rows participants have collected lies in extents of
 * the pool.  Then the participant that has sorted publishes a view of it (sort_view.h), leaves the
 * view's extents to the leader's owner, gives back its other memory, which is more, and reads the
 * result like every other participant.
 *
 * If the sort has spilled, and each row goes to only one participant, participants read back, and
 * sort, portions that they take (sort_parts.h).  As many participants do so as there is memory
 * for.
 *
 * If some of the result is private memory, or the sort was handed over to tuplesort, rows that go
 * to every participant are written to a temporary file; rows that would each go to one participant
 * all go to the one that has sorted.  Neither is fast, nor often needed.
 *
 * The result is divided into many more slices than there are participants, so that all participants
 * end at about the same time.  Slices are handed out in order, so each participant gets its rows in
 * order.  Rows that are equal in the first columns are a group, and stay in one slice: a slice
 * begins at the first position, from its nominal one on, where a group begins.  Each participant
 * finds that position for itself (sort_view.h).  If a group fills more than a slice, the slices
 * behind are empty.
 */
#include "postgres.h"

#include <fcntl.h>

#include "access/htup_details.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "pg_compat/executor.h"
#include "settings.h"
#include "sort/sort_result.h"
#include "sort/state_private.h"

/* ---------- the result in a temporary file ---------- */

/* The file holds minimal tuples one after the other. */

#define FILE_NAME		"gpusort.result"

/* The least number of bytes allocated for a row. */
#define MIN_ROW_BYTES	1024

/* Writes all rows of a sort to a file, which other participants can open. */
static void
write_file(SharedFileSet *files, GpuSort *sort, TupleDesc desc)
{
	BufFile    *file = BufFileCreateFileSet(&files->fs, FILE_NAME);
	TupleTableSlot *slot = gpusort_make_slot(desc, &TTSOpsMinimalTuple);
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

/* Opens that file, in the current memory context, at its first row. */
static void
open_file(GpuSortResultFile *file, SharedFileSet *files, uint64 rows)
{
	*file = (GpuSortResultFile) {
		.file = BufFileOpenFileSet(&files->fs, FILE_NAME, O_RDONLY, false),
		.rows = rows,
		.context = CurrentMemoryContext
	};
}

static void
close_file(GpuSortResultFile *file)
{
	if (file->file != NULL)
		BufFileClose(file->file);
	file->file = NULL;
}

static void
read_bytes(BufFile *file, void *to, Size bytes)
{
	if (BufFileRead(file, to, bytes) != bytes)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read the result of a shared sort from its temporary file")));
}

/* Makes room for a row of len bytes. */
static void
reserve_row(GpuSortResultFile *file, uint32 len)
{
	if (len <= file->row_size)
		return;
	if (file->row != NULL)
		pfree(file->row);
	file->row_size = Max(len, MIN_ROW_BYTES);
	file->row = MemoryContextAlloc(file->context, file->row_size);
}

/* Stores the next row in the slot.  Returns false if there is none. */
static bool
fetch_from_file(GpuSortResultFile *file, TupleTableSlot *slot)
{
	uint32		len;

	ExecClearTuple(slot);
	if (file->next == file->rows)
		return false;
	read_bytes(file->file, &len, sizeof(len));
	reserve_row(file, len);
	file->row->t_len = len;
	read_bytes(file->file, (char *) file->row + sizeof(len), len - sizeof(len));
	file->next++;
	gpusort_store_tuple(slot, file->row);
	return true;
}

static void
seek(GpuSortResultFile *file, int fileno, off_t offset, uint64 next)
{
	if (BufFileSeek(file->file, fileno, offset, SEEK_SET) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not seek in the temporary file of a shared sort")));
	file->next = next;
}

/* Goes back to the first row. */
static void
rewind_file(GpuSortResultFile *file)
{
	seek(file, 0, 0, 0);
}

/* Marks the current position. */
static void
mark_file(GpuSortResultFile *file)
{
	BufFileTell(file->file, &file->mark_fileno, &file->mark_offset);
	file->mark_next = file->next;
}

/* Goes back to the mark. */
static void
restore_file(GpuSortResultFile *file)
{
	seek(file, file->mark_fileno, file->mark_offset, file->mark_next);
}

/* ---------- the result ---------- */

/* How many slices there are for each participant, unless they would have fewer rows than that. */
#define SLICES_PER_PARTICIPANT	8
#define MIN_SLICE_ROWS			4096

/* The least rows of a slice where sorts are forced, that is, in tests, which have few rows. */
#define MIN_FORCED_SLICE_ROWS	16

/* A mapping of a view that is unmapped with its memory context. */
typedef struct MappedView
{
	GpuSortViewMapping mapping;
	MemoryContextCallback on_reset;
} MappedView;

/* ---------- publishing ---------- */

void
gpusort_result_init(GpuSortSharedResult *shared)
{
	memset(shared, 0, sizeof(*shared));
	pg_atomic_init_u32(&shared->next_slice, 0);
	pg_atomic_init_u32(&shared->readers, 0);
}

static uint32
number_of_slices(uint64 nrows, int participants)
{
	uint64		slice_rows = gpusort_force ? MIN_FORCED_SLICE_ROWS : MIN_SLICE_ROWS;
	uint64		slices = Min(nrows / slice_rows, participants * SLICES_PER_PARTICIPANT);

	return (uint32) Max(slices, 1);
}

/*
 * Decides where the participants find the rows of a sort, and puts these there, but for those that
 * are written to a file.
 */
static GpuSortResultPlace
choose_place(GpuSortResult *result, GpuSort *sort)
{
	GpuSortSharedResult *shared = result->shared;

	if (shared->nrows == 0 || (result->room != NULL && gpusort_leave_view(sort, result->room)))
		return GPUSORT_RESULT_VIEW;
	if (result->slice_columns == 0)
		return GPUSORT_RESULT_FILE;
	return gpusort_share_portions(sort, &shared->portions) ? GPUSORT_RESULT_PORTIONS
		: GPUSORT_RESULT_OWN;
}

bool
gpusort_result_publish(GpuSortResult *result, GpuSort *sort, int participants)
{
	GpuSortSharedResult *shared = result->shared;

	shared->nrows = gpusort_rows(sort);
	shared->place = choose_place(result, sort);
	shared->nslices = shared->place == GPUSORT_RESULT_PORTIONS ? shared->portions.count
		: number_of_slices(shared->nrows, participants);
	if (shared->place == GPUSORT_RESULT_FILE)
		write_file(result->files, sort, result->desc);
	if (shared->place == GPUSORT_RESULT_OWN)
		result->sort = sort;
	return result->sort == sort;
}

/* ---------- finding it ---------- */

static void
unmap_view(void *arg)
{
	gpusort_detach_view(&((MappedView *) arg)->mapping);
}

/* Maps the view, until the current memory context is reset. */
static void
map_view(GpuSortResult *result)
{
	MappedView *mapped = palloc0(sizeof(MappedView));
	GpuSortView *view = &result->view;

	mapped->on_reset.func = unmap_view;
	mapped->on_reset.arg = mapped;
	MemoryContextRegisterResetCallback(CurrentMemoryContext, &mapped->on_reset);
	if (!gpusort_attach_view(result->room, view, &mapped->mapping))
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory"),
				 errdetail("Failed to map the rows of a shared sort.")));

	/* the offsets lie in shared memory, which goes earlier than the view, so they are copied */
	if (view->places.granule_rows > 0)
	{
		Size		bytes = (view->places.granule_rows >> GPUSORT_GRANULE_SHIFT) * sizeof(size_t);

		view->places.granule_offsets = memcpy(palloc(bytes), view->places.granule_offsets, bytes);
	}
}

static void
find_view(GpuSortResult *result)
{
	if (result->shared->nrows == 0)
		return;
	map_view(result);
	gpusort_cursor_open_view(&result->cursor, &result->view);
	if (result->slice_columns == 0)
		gpusort_cursor_limit(&result->cursor, 0, result->view.nrows);
	else
	{
		result->cutter = gpusort_begin_cuts(&result->view, result->desc, result->spec,
											result->slice_columns);
		result->by_slices = true;
	}
}

/* Gets ready to read portions, if there is memory for one more participant that does. */
static void
find_portions(GpuSortResult *result)
{
	GpuSortSharedResult *shared = result->shared;
	const GpuSortSharedPortions *portions = &shared->portions;

	if (pg_atomic_fetch_add_u32(&shared->readers, 1) > portions->workers)
		return;
	result->sort = gpusort_parts_begin_part(gpusort_parts_attach(portions->parts), result->desc,
											result->spec);
	if (result->sort == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory"),
				 errdetail("Failed to reserve address space for a sort.")));
	gpusort_open_portions(result->sort, portions);
	gpusort_cursor_open_sort(&result->cursor, result->sort);
	result->by_slices = true;
}

void
gpusort_result_find(GpuSortResult *result)
{
	gpusort_cursor_open_view(&result->cursor, NULL);
	switch (result->shared->place)
	{
		case GPUSORT_RESULT_VIEW:
			find_view(result);
			break;
		case GPUSORT_RESULT_PORTIONS:
			find_portions(result);
			break;
		case GPUSORT_RESULT_FILE:
			open_file(&result->file, result->files, result->shared->nrows);
			break;
		case GPUSORT_RESULT_OWN:
			if (result->sort != NULL)
				gpusort_cursor_open_sort(&result->cursor, result->sort);
			break;
	}
}

void
gpusort_result_open(GpuSortResult *result, GpuSort *sort)
{
	result->sort = sort;
	gpusort_cursor_open_sort(&result->cursor, sort);
}

void
gpusort_result_close(GpuSortResult *result)
{
	close_file(&result->file);
	if (result->sort != NULL)
		gpusort_end(result->sort);
	/* another execution finds its own result */
	result->sort = NULL;
	memset(&result->view, 0, sizeof(result->view));
	memset(&result->file, 0, sizeof(result->file));
	gpusort_cursor_open_view(&result->cursor, NULL);
	result->cutter = NULL;
	result->by_slices = false;
}

/* ---------- reading ---------- */

static uint64
slice_start(const GpuSortSharedResult *shared, uint32 slice)
{
	return shared->nrows * slice / shared->nslices;
}

/*
 * Returns where a slice begins and ends, in positions of the cursor.  A portion is read back first.
 */
static void
find_slice(GpuSortResult *result, uint32 slice, uint64 *from, uint64 *end)
{
	if (result->cutter == NULL)
	{
		gpusort_cursor_close_window(&result->cursor);
		gpusort_take_portion(result->sort, slice, from, end);
		return;
	}
	*from = gpusort_find_cut(result->cutter, slice_start(result->shared, slice));
	*end = gpusort_find_cut(result->cutter, slice_start(result->shared, slice + 1));
}

/* Takes slices until one has rows.  Returns false if there are no more. */
static bool
claim_slice(GpuSortResult *result)
{
	GpuSortSharedResult *shared = result->shared;

	while (shared != NULL && pg_atomic_read_u32(&shared->next_slice) < shared->nslices)
	{
		uint32		slice = pg_atomic_fetch_add_u32(&shared->next_slice, 1);
		uint64		from;
		uint64		end;

		if (slice >= shared->nslices)
			break;
		find_slice(result, slice, &from, &end);
		if (from < end)
		{
			gpusort_cursor_limit(&result->cursor, from, end);
			return true;
		}
	}
	return false;
}

bool
gpusort_result_fetch_other(GpuSortResult *result, bool forward, TupleTableSlot *slot)
{
	if (result->file.file != NULL)
		return fetch_from_file(&result->file, slot);
	while (result->by_slices && claim_slice(result))
		if (gpusort_cursor_fetch(&result->cursor, forward, slot))
			return true;
	return false;
}

bool
gpusort_result_is_whole(const GpuSortResult *result)
{
	return !result->by_slices;
}

/*
 * Returns whether rows are read through the view that all participants have mapped, which has no
 * rows if none are for this one.
 */
static bool
is_mapped(const GpuSortResult *result)
{
	return result->shared != NULL && result->sort == NULL && result->file.file == NULL;
}

bool
gpusort_result_view(const GpuSortResult *result, GpuSortView *view)
{
	GpuSort    *sort = result->sort;

	if (sort != NULL && !result->by_slices)
	{
		if (sort->tuplesort != NULL || sort->key_rows.used || !gpusort_is_in_memory(sort))
			return false;
		gpusort_view(sort, view);
		return true;
	}
	if (!is_mapped(result))
		return false;
	*view = result->view;
	return true;
}

bool
gpusort_result_cursor(const GpuSortResult *result, GpuSortCursor *cursor)
{
	if (result->sort != NULL && !result->by_slices)
	{
		gpusort_cursor_open_sort(cursor, result->sort);
		return cursor->tuplesort == NULL;
	}
	if (!is_mapped(result))
		return false;
	gpusort_cursor_open_view(cursor, &result->view);
	gpusort_cursor_limit(cursor, 0, result->view.nrows);
	return true;
}

const uint64 *
gpusort_result_equal(const GpuSortResult *result)
{
	GpuSortView view;

	if (result->sort != NULL && !result->sort->tells_equal)
		return NULL;
	return gpusort_result_view(result, &view) && view.nrows > 0 ? view.equal : NULL;
}

bool
gpusort_result_next_stretch(GpuSortResult *result, uint64 *from, uint64 *end)
{
	GpuSortCursor *cursor = &result->cursor;

	while (cursor->next >= cursor->end)
		if (!result->by_slices || !claim_slice(result))
			return false;
	*from = cursor->next;
	*end = cursor->next = cursor->end;
	return true;
}

/*
 * Slices are taken only once, and a tuplesort can be rewound only if it was begun with random
 * access.
 */
bool
gpusort_result_can_rewind(const GpuSortResult *result, bool random_access)
{
	return !result->by_slices &&
		(result->sort == NULL || result->cursor.tuplesort == NULL || random_access);
}

void
gpusort_result_rewind(GpuSortResult *result)
{
	if (result->file.file != NULL)
		rewind_file(&result->file);
	else
		gpusort_cursor_rewind(&result->cursor);
}

void
gpusort_result_mark(GpuSortResult *result)
{
	if (result->file.file != NULL)
		mark_file(&result->file);
	else
		gpusort_cursor_mark(&result->cursor);
}

void
gpusort_result_restore(GpuSortResult *result)
{
	if (result->file.file != NULL)
		restore_file(&result->file);
	else
		gpusort_cursor_restore(&result->cursor);
}

uint64
gpusort_result_window(GpuSort *sort, uint64 position, GpuSortView *view)
{
	uint64		from;
	uint64		to;

	gpusort_fetch_window(sort, position, &from, &to);
	Assert(from == position);
	gpusort_view(sort, view);
	return to;
}
