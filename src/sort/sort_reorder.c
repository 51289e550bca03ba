/*
 * sort_reorder.c
 *		Having rows brought into sorted order by gpusortd; see sort_reorder.h.
 *
 * Rows that are returned through pointers to where they arrived cost a cache miss each.
 * gpusortd may copy them into the order it has found, into extents of the pool, so
 * that they are read one after the other.
 *
 * Nothing depends on it.  Ids and rows are there as ever, and each block of rows comes
 * from wherever it is to be had when it is asked for: from the copy, if gpusortd has got
 * that far, else by pointer.  A gpusortd that is slow, dies or has no memory costs time,
 * and a query never waits for it (but with gpusort.reorder_rows = on, for tests).  Since
 * all rows are copied, and each finds its place by its position, a query that reads backward
 * or anew finds them as well.
 *
 * An index build does wait, once: several processes read its tuples, and they are to
 * agree on where these lie (sort_view.c).
 *
 * The price is memory: the rows a second time, in the pool, of which no more is
 * taken than half of what is free.
 *
 * A refinement changes the order behind gpusortd's back, but only of rows that tied, which the
 * engine's bitmap of equal rows tells: these are found by pointer, all others in the copy
 * (sort_fetch.c).  Who reads a view knows nothing of that, so other processes' sorts are not
 * reordered if they need a refinement, and if it turns out only afterwards that rows of an index
 * tie, the copy is given up.  The verification of sorts by libc's collations may change the order
 * anywhere, and marks of dead rows disappear from index tuples before these are written:
 * neither are reordered.
 */
#include "postgres.h"

#include "access/htup_details.h"

#include "memory/pool.h"
#include "service/service_settings.h"
#include "sort/key_rows.h"
#include "sort/sort_memory.h"
#include "sort/sort_progress.h"
#include "sort/sort_ranges.h"
#include "sort/sort_reorder.h"
#include "sort/sort_state.h"

/*
 * When it pays (test/bench/reorder.pl on a GPU; docs/performance.md has the figures).  Fewer
 * bytes stay in the processor's caches while rows are read in any order.  Rows
 * that are longer than a cache line cost a miss as well, but prefetching hides most of it,
 * and copying moves three times their length through the host's memory: these must be so many that
 * the processor does not find their pages either.
 */
#define MIN_REORDER_BYTES	((size_t) 64 << 20)
#define MAX_REORDER_ROW		64
#define MIN_LONG_REORDER_BYTES	((size_t) 1 << 30)
#define MAX_LONG_REORDER_ROW	128

/* Where in the first 64-bit word of a row a field of it lies. */
#ifdef WORDS_BIGENDIAN
#define FIELD_SHIFT(offset, bytes) (64 - 8 * ((offset) + (bytes)))
#else
#define FIELD_SHIFT(offset, bytes) (8 * (offset))
#endif

bool
gpusort_reorder_outlasts_refinement(const GpuSort *sort)
{
	return !sort->index_rows && !sort->tells_equal && !sort->is_joined && !gpusort_verify;
}

/* Does reading so many rows in order gain more than having them copied costs? */
static bool
is_gain(const GpuSort *sort, uint64 rows)
{
	size_t		row_bytes = average_row_bytes(&sort->rows);
	size_t		bytes = rows * row_bytes;

	if (row_bytes <= MAX_REORDER_ROW)
		return bytes >= MIN_REORDER_BYTES;
	return !sort->index_rows && row_bytes <= MAX_LONG_REORDER_ROW && bytes >= MIN_LONG_REORDER_BYTES;
}

/* Is reordering to be considered, as far as can be told while rows arrive? */
static bool
may_pay(const GpuSort *sort, uint64 rows, bool is_refined)
{
	if (sort->key_rows.used || sort->keys.untrusted || sort->index.any_dead || gpusort_range_is_private(sort->rows.store))
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
		gpusort_job_feed_rows(&sort->service.job, sort->rows.store, sort->rows.used);
}

static uint32
extents_for(size_t bytes)
{
	return (uint32) ((bytes + GSD_EXTENT_BYTES - 1) / GSD_EXTENT_BYTES);
}

/* Have so many bytes of the pool in *range; false if there is not enough left of it. */
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

/* Do all rows take the same room?  The last one of a uniform sort need not. */
static bool
have_one_length(const GpuSortRows *rows)
{
	const GpuSortRowPlaces *places = &rows->places;

	return places->uniform && TYPEALIGN(places->unit, rows->used) == rows->count * places->stride;
}

/*
 * Get memory for the rows in order; false if it is better left to others.  Some may
 * have been taken even so.
 */
static bool
acquire_memory(GpuSort *sort, size_t row_bytes, size_t refs_bytes)
{
	uint32		extents = extents_for(row_bytes) + extents_for(refs_bytes);

	if (gpusort_reorder_rows == GPUSORT_REORDER_AUTO &&
		extents > gpusort_pool->header->free_extents / 2)
		return false;
	return acquire_in_pool(sort, &sort->reorder.rows, GPUSORT_RANGE_SORTED_ROWS, row_bytes) &&
		(refs_bytes == 0 ||
		 acquire_in_pool(sort, &sort->reorder.refs, GPUSORT_RANGE_SORTED_REFS, refs_bytes));
}

/* Say where tuples tell how long they are. */
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

	/* where only TIDs may be out of order, most indexes have no rows that tie */
	if (!may_pay(sort, sort->rows.count, sort->keys.refine_column >= 0))
		return;
	set_length_field(sort, &rows);
	if (acquire_memory(sort, rows.row_bytes, one_length ? 0 : sort->rows.count * sizeof(uint32)))
	{
		rows.to_rows = sort->reorder.rows;
		rows.to_refs = sort->reorder.refs;
		sort->reorder.places = (GpuSortRowPlaces) {
			.base = sort->reorder.rows->base,
			.refs = one_length ? NULL : RANGE_U32(sort->reorder.refs),
			.unit = sort->rows.places.unit,
			.uniform = one_length,
			.stride = rows.stride,
		};
		sort->reorder.running = gpusort_job_reorder(&sort->service.job, &rows);
	}
	if (!sort->reorder.running)
		gpusort_release_reordered(sort);
}

