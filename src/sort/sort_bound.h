/*
 * sort_bound.h
 *		Sorts of which only the first rows are wanted: keeping no more than may be among them.
 *
 * When clearly more rows are there than the bound allows for, they are put in order and
 * trimmed to it.  From then on, rows that belong behind the last of these are dropped when
 * they come.
 *
 * A trim moves rows, and makes their keys again (sort_put.c): begin, take each kept row from its
 * old place to its new one, end.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_SORT_BOUND_H
#define GPUSORT_SORT_BOUND_H

#include "access/htup_details.h"

#include "pg_compat.h"
#include "sort/sort_state.h"

/*
 * Rows are trimmed when there are twice as many as the bound, so that no row is sorted more than
 * twice on average, but not by the handful.
 */
#define TRIM_FACTOR		2
#define TRIM_MIN_ROWS	4096

typedef struct GpuSortTrim
{
	GpuSortRowPlaces places;	/* where the rows lay */
	uint64		nrows;			/* that there were */
	uint64		next;			/* id of the next one to be looked at */
	uint64	   *kept;			/* bitmap of ids; NULL: all are kept, since their order could
								 * not be found */
	uint32		last;			/* id of the last one in order that is kept */
} GpuSortTrim;

/* Keep so many of the rows that come from now on; 0: all of them. */
extern void gpusort_keep_first(GpuSort *sort, uint64 rows);

/* Have enough rows come in to trim them? */
static inline bool
gpusort_should_trim(const GpuSort *sort)
{
	return sort->bound.trim_at > 0 && sort->rows.count >= sort->bound.trim_at &&
		sort->stats.joined_rows == 0;
}

/* There is no room for more: would trimming gain some? */
static inline bool
gpusort_may_trim(const GpuSort *sort)
{
	return sort->bound.trim_at > 0 && sort->rows.count >= TRIM_MIN_ROWS / 4 &&
		sort->rows.count / 5 * 4 >= sort->bound.rows && sort->stats.joined_rows == 0;
}

/* Choose the rows to be kept.  The sort has no rows then, but they are still in the row store. */
extern void gpusort_begin_trim(GpuSort *sort, GpuSortTrim *trim);

/*
 * Move the next row that is kept to the end of those that are there, in the order of arrival;
 * false if there is none.
 */
extern bool gpusort_move_kept_row(GpuSort *sort, GpuSortTrim *trim, GpuSortStoredRow *row);

/* All of them are rows again. */
extern void gpusort_end_trim(GpuSort *sort, GpuSortTrim *trim);

/* Rows come from another table now: look for the first key where it lies in tuples of that. */
extern void gpusort_place_bound(GpuSort *sort);

/*
 * Does row `id`, whose tuple and keys are where a row's are, belong behind the last one wanted of
 * a sort that has been trimmed?  Equal rows do, since they come later.
 */
extern bool gpusort_is_beyond_bound(GpuSort *sort, uint32 id);

/*
 * Likewise one that has not been stored, by PostgreSQL's comparison: in a slot; or on a page, where it
 * is a row of the sort as it lies, so that no slot has to look for all attributes up to the last key.
 */
extern bool gpusort_slot_is_beyond_bound(GpuSort *sort, TupleTableSlot *slot);
extern bool gpusort_tuple_is_beyond_bound(GpuSort *sort, HeapTuple tuple);

/* Likewise a tuple on a page whose first key is an integer at a known place. */
static pg_always_inline bool
gpusort_word_is_beyond_bound(const GpuSort *sort, HeapTupleHeader tuple)
{
	const GpuSortBound *bound = &sort->bound;
	const GpuSortColumn *column = &sort->keys.columns[0];
	const char *value = (const char *) tuple + tuple->t_hoff + bound->offset;
	uint64		word;

	if (!bound->word_known || bound->offset < 0 || (tuple->t_infomask & HEAP_HASNULL) != 0 ||
		HeapTupleHeaderGetNatts(tuple) < bound->attno)
		return false;
	word = word_from_int64(column->integer_bytes == sizeof(int64) ? *(const int64 *) value
						   : *(const int32 *) value);
	return (word ^ column->flip) > bound->word;
}

#endif							/* GPUSORT_SORT_BOUND_H */
