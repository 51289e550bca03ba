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
 * to every participant are passed on one by one; rows that would each go to one participant all go
 * to the one that has sorted.  Neither is fast, nor often needed.
 *
 * The result is divided into many more slices than there are participants, so that all participants
 * end at about the same time.  Slices are handed out in order, so each participant gets its rows in
 * order.  Rows that are equal in the first columns are a group, and stay in one slice: a slice
 * begins at the first position, from its nominal one on, where a group begins.  Each participant
 * finds that position for itself (sort_view.h).  If a group fills more than a slice, the slices
 * behind are empty.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "pg_compat/executor.h"
#include "settings.h"
#include "sort/sort_result.h"
#include "sort/state_private.h"

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
	gpusort_passed_init(&shared->passed);
}

static uint32
number_of_slices(uint64 nrows, int participants)
{
	uint64		slice_rows = gpusort_force ? MIN_FORCED_SLICE_ROWS : MIN_SLICE_ROWS;
	uint64		slices = Min(nrows / slice_rows, participants * SLICES_PER_PARTICIPANT);

	return (uint32) Max(slices, 1);
}

/* Where rows are that this result passes on. */
static GpuSortRowPlace
place_of_passed(const GpuSortResult *result)
{
	return (GpuSortRowPlace) {
		.rows = &result->shared->passed, .area = result->area, .files = result->files,
		.name = "gpusort.result"
	};
}

/* Passes all rows of a sort on. */
static void
pass_rows(GpuSortResult *result, GpuSort *sort)
{
	GpuSortRowPlace place = place_of_passed(result);
	TupleTableSlot *slot = gpusort_make_slot(result->desc, &TTSOpsMinimalTuple);
	GpuSortRowWriter writer;
	GpuSortCursor cursor;

	gpusort_pass_begin(&writer, &place);
	gpusort_cursor_open_sort(&cursor, sort);
	while (gpusort_cursor_fetch(&cursor, true, slot))
	{
		bool		should_free;
		MinimalTuple tuple = ExecFetchSlotMinimalTuple(slot, &should_free);

		CHECK_FOR_INTERRUPTS();
		Assert(!should_free);
		gpusort_pass_row(&writer, tuple);
	}
	ExecClearTuple(slot);
	gpusort_pass_end(&writer);
}

/*
 * Decides where the participants find the rows of a sort, and puts these there, but for those that
 * are passed on.
 */
static GpuSortResultPlace
choose_place(GpuSortResult *result, GpuSort *sort)
{
	GpuSortSharedResult *shared = result->shared;

	if (shared->nrows == 0 || (result->room != NULL && gpusort_leave_view(sort, result->room)))
		return GPUSORT_RESULT_VIEW;
	if (result->slice_columns == 0)
		return GPUSORT_RESULT_PASSED;
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
	if (shared->place == GPUSORT_RESULT_PASSED)
		pass_rows(result, sort);
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
	GpuSortRowPlace place;

	gpusort_cursor_open_view(&result->cursor, NULL);
	switch (result->shared->place)
	{
		case GPUSORT_RESULT_VIEW:
			find_view(result);
			break;
		case GPUSORT_RESULT_PORTIONS:
			find_portions(result);
			break;
		case GPUSORT_RESULT_PASSED:
			place = place_of_passed(result);
			gpusort_passed_open(&result->passed, &place);
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
	gpusort_passed_close(&result->passed);
	if (result->sort != NULL)
		gpusort_end(result->sort);
	/* another execution finds its own result */
	result->sort = NULL;
	memset(&result->view, 0, sizeof(result->view));
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

/* Stores the next row that was passed in the slot.  Returns false if there is none. */
static bool
fetch_passed(GpuSortRowReader *reader, TupleTableSlot *slot)
{
	MinimalTuple row;

	ExecClearTuple(slot);
	row = gpusort_passed_next(reader);
	if (row != NULL)
		gpusort_store_tuple(slot, row);
	return row != NULL;
}

bool
gpusort_result_fetch_other(GpuSortResult *result, bool forward, TupleTableSlot *slot)
{
	if (result->passed.is_open)
		return fetch_passed(&result->passed, slot);
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
	return result->shared != NULL && result->sort == NULL && !result->passed.is_open;
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
	if (result->passed.is_open)
		gpusort_passed_rewind(&result->passed);
	else
		gpusort_cursor_rewind(&result->cursor);
}

void
gpusort_result_mark(GpuSortResult *result)
{
	if (result->passed.is_open)
		gpusort_passed_mark(&result->passed);
	else
		gpusort_cursor_mark(&result->cursor);
}

void
gpusort_result_restore(GpuSortResult *result)
{
	if (result->passed.is_open)
		gpusort_passed_restore(&result->passed);
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
