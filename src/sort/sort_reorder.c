/*
 * sort_reorder.c
 *		Having gpusortd bring rows into sorted order; see service_private.h.
 *
 * Rows that are returned through pointers to where they arrived cost a cache miss each.  gpusortd
 * may copy them, in the order it has found, into extents of the pool, where they are read one after
 * the other.
 *
 * Nothing depends on this copy.  Row ids and rows are there as ever, and each block of rows is
 * taken from the copy if gpusortd has got that far when the block is asked for, else by pointer.
 * If gpusortd is slow, dies or has no memory, that costs time, and a query never waits for it
 * (except with gpusort.reorder_rows = on, for tests).  Since all rows are copied, and each is found
 * by its position, a query that reads backward or anew finds them as well.
 *
 * An index build does wait, once: several processes read its tuples, and must agree on where these
 * lie (view_publish.c).
 *
 * The price is memory: the rows are in the pool a second time, for which no more is taken than half
 * of what is free.
 *
 * A refinement changes the order behind gpusortd's back, but only of rows that tied, which the
 * engine's bitmap of equal rows tells: these are found by pointer, all others in the copy
 * (sort_fetch.c).  A process that reads a view knows nothing of that.  So a sort whose result other
 * processes read is not reordered if it needs a refinement, and if it turns out only afterwards
 * that rows of an index tie, the copy is given up.  Two kinds of sorts are never reordered: those
 * by a library's collation (libc's or ICU's), because the verification may change their order
 * anywhere, and those with dead rows, whose marks disappear from index tuples before these are
 * written.
 */
#include "postgres.h"

#include "access/htup_details.h"

#include "memory/pool.h"
#include "service/service.h"
#include "sort/memory_private.h"
#include "sort/rows_private.h"
#include "sort/service_private.h"
#include "sort/state_private.h"

/*
 * When reordering pays (test/bench/reorder.pl on a GPU; docs/performance.md has the figures).
 * Fewer bytes than MIN_REORDER_BYTES stay in the processor's caches while rows are read in any
 * order.  Rows that are longer than a cache line cost a miss as well, but prefetching hides most of
 * it, and copying moves three times their length through the host's memory.  So there must be so
 * many of these that the processor does not find their pages either (MIN_LONG_REORDER_BYTES).
 */
#define MIN_REORDER_BYTES	((size_t) 64 << 20)
#define MAX_REORDER_ROW		64
#define MIN_LONG_REORDER_BYTES	((size_t) 1 << 30)
#define MAX_LONG_REORDER_ROW	128

/* Where in the first 64-bit word of a row a field of the row lies. */
#ifdef WORDS_BIGENDIAN
#define FIELD_SHIFT(offset, bytes) (64 - 8 * ((offset) + (bytes)))
#else
#define FIELD_SHIFT(offset, bytes) (8 * (offset))
#endif

bool
gpusort_reorder_outlasts_refinement(const GpuSort *sort)
{
	return !sort->index_rows && !sort->tells_equal && !sort->parts.is_joined && !gpusort_verify;
}

/* Returns whether reading so many rows in order gains more than having them copied costs. */
static bool
is_gain(const GpuSort *sort, uint64 rows)
{
	size_t		row_bytes = average_row_bytes(&sort->rows);
	size_t		bytes = rows * row_bytes;

	if (row_bytes <= MAX_REORDER_ROW)
		return bytes >= MIN_REORDER_BYTES;
	return !sort->index_rows && row_bytes <= MAX_LONG_REORDER_ROW &&
		bytes >= MIN_LONG_REORDER_BYTES;
}

/* Returns whether reordering is to be considered, as far as can be told while rows arrive. */
static bool
may_pay(const GpuSort *sort, uint64 rows, bool is_refined)
{
	if (sort->key_rows.used || sort->keys.untrusted || sort->index.any_dead ||
		gpusort_range_is_private(sort->rows.store))
		return false;
	if (is_refined && !gpusort_reorder_outlasts_refinement(sort))
		return false;
	switch ((GpuSortReorderRows) gpusort_reorder_rows)
	{
		case GPUSORT_REORDER_OFF:
			return false;
		case GPUSORT_REORDER_ON:
			return true;
		case GPUSORT_REORDER_AUTO:
			break;
	}
	return gpusort_pool->header->service.engine != 0 && is_gain(sort, rows);
}

bool
gpusort_reorder_is_likely(const GpuSort *sort)
{
	double		rows = sort->spec.expected_rows;

	return gpusort_pool != NULL && gpusort_pool->header->service.engine != 0 &&
		gpusort_engine != GPUSORT_ENGINE_HOST && gpusort_reorder_rows != GPUSORT_REORDER_OFF &&
		rows >= gpusort_min_gpu_rows && rows * gpusort_key_row_bytes(sort) >= MIN_REORDER_BYTES;
}

static bool
any_long_keys(const GpuSort *sort)
{
	for (int i = 0; i < sort->keys.ncolumns; i++)
		if (sort->keys.columns[i].facts.long_keys)
			return true;
	return false;
}

void
gpusort_reorder_feed(GpuSort *sort)
{
	if (may_pay(sort, gpusort_rows_in_the_end(sort), any_long_keys(sort)))
		gpusort_job_feed_rows(&sort->device.job, sort->rows.store, sort->rows.used);
}

static uint32
extents_for(size_t bytes)
{
	return (uint32) ((bytes + GSD_EXTENT_BYTES - 1) / GSD_EXTENT_BYTES);
}

/*
 * Acquires *range and makes so many bytes of it usable, in the pool.  Returns false if there is not
 * enough left of the pool.
 */
static bool
acquire_in_pool(GpuSort *sort, GpuSortRange **range, int role, size_t bytes)
{
	gs_progress outer;
	bool		grown;

	*range = gpusort_acquire_range(sort, role);
	if (*range == NULL)
		return false;
	gpusort_range_reserve(*range, bytes);
	if (gpusort_range_pool_bytes(*range) < bytes)
		return false;
	outer = gpusort_enter_growth(sort, bytes, gpusort_range_fresh_bytes(*range));
	grown = gpusort_grow_in_steps(sort, *range, bytes);
	gs_progress_leave(sort->progress, &outer);
	return grown && !gpusort_range_is_private(*range);
}

/* Returns whether all rows take the same room.  The last row of a uniform sort need not. */
static bool
have_one_length(const GpuSortRows *rows)
{
	const GpuSortRowPlaces *places = &rows->places;

	return places->uniform && TYPEALIGN(places->unit, rows->used) == rows->count * places->stride;
}

/*
 * Acquires memory for the rows in order.  Returns false if that memory is better left to others;
 * some of it may have been acquired even so.
 */
static bool
acquire_memory(GpuSort *sort, size_t row_bytes, size_t refs_bytes)
{
	GpuSortReordered *reorder = &sort->device.reorder;
	uint32		extents = extents_for(row_bytes) + extents_for(refs_bytes);

	if (gpusort_reorder_rows == GPUSORT_REORDER_AUTO &&
		extents > gpusort_pool->header->free_extents / 2)
		return false;
	return acquire_in_pool(sort, &reorder->rows, GPUSORT_RANGE_SORTED_ROWS, row_bytes) &&
		(refs_bytes == 0 ||
		 acquire_in_pool(sort, &reorder->refs, GPUSORT_RANGE_SORTED_REFS, refs_bytes));
}

/* Tells the job where in a tuple its length is found. */
static void
set_length_field(const GpuSort *sort, GpuSortJobRows *rows)
{
	if (sort->index_rows)
	{
		rows->length_shift = FIELD_SHIFT(offsetof(IndexTupleData, t_info), sizeof(uint16));
		rows->length_mask = INDEX_SIZE_MASK;
	}
	else
	{
		rows->length_shift = FIELD_SHIFT(offsetof(MinimalTupleData, t_len), sizeof(uint32));
		rows->length_mask = PG_UINT32_MAX;
	}
}

void
gpusort_reorder_begin(GpuSort *sort)
{
	bool		one_length = have_one_length(&sort->rows);
	GpuSortJobRows rows = {
		.rows = sort->rows.store,
		.refs = one_length ? NULL : sort->rows.refs,
		.row_bytes = TYPEALIGN(sort->rows.places.unit, sort->rows.used),
		.stride = one_length ? sort->rows.places.stride : 0,
		.unit = sort->rows.places.unit,
	};

	/* an index whose rows may be out of order by TID only has, mostly, no rows that tie */
	if (!may_pay(sort, sort->rows.count, sort->keys.refine_column >= 0))
		return;
	set_length_field(sort, &rows);
	if (acquire_memory(sort, rows.row_bytes, one_length ? 0 : sort->rows.count * sizeof(uint32)))
	{
		rows.to_rows = sort->device.reorder.rows;
		rows.to_refs = sort->device.reorder.refs;
		sort->device.reorder.places = (GpuSortRowPlaces) {
			.base = sort->device.reorder.rows->base,
			.refs = one_length ? NULL : RANGE_U32(sort->device.reorder.refs),
			.unit = sort->rows.places.unit,
			.uniform = one_length,
			.stride = rows.stride,
		};
		sort->device.reorder.running = gpusort_job_reorder(&sort->device.job, &rows);
	}
	if (!sort->device.reorder.running)
		gpusort_release_reordered(sort);
}

