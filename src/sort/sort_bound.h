/*
 * sort_bound.h
 *		Sorts of which only the first rows are wanted: keeping only rows that may be among those.
 *
 * When there are clearly more rows than the bound allows for, they are put in order and trimmed to
 * the bound.  From then on, a row that belongs behind the last of those is dropped when it comes.
 *
 * A trim moves rows and makes their keys again (sort_put.c): begin, move each kept row from its old
 * place to its new one, end.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_SORT_BOUND_H
#define GPUSORT_SORT_BOUND_H

#include "access/htup_details.h"

#include "pg_compat.h"
#include "sort/sort_state.h"

/*
 * Rows are trimmed when there are TRIM_FACTOR times as many as the bound, so that a row is sorted
 * no more than twice on average, but not before there are TRIM_MIN_ROWS.
 */
#define TRIM_FACTOR		2
#define TRIM_MIN_ROWS	4096

typedef struct GpuSortTrim
{
	GpuSortRowPlaces places;	/* where the rows lay before the trim */
	uint64		nrows;			/* how many rows there were */
	uint64		next;			/* row id of the next row to be looked at */
	/* bitmap of row ids; NULL: all rows are kept, since their order could not be found */
	uint64	   *kept;
	uint32		last;			/* row id of the last row in order that is kept */
} GpuSortTrim;

/* Keep only the first `rows` rows in order of those that come from now on; 0: keep all of them. */
extern void gpusort_keep_first(GpuSort *sort, uint64 rows);

/* Returns whether enough rows have come in to trim them. */
static inline bool
gpusort_should_trim(const GpuSort *sort)
{
	return sort->bound.trim_at > 0 && sort->rows.count >= sort->bound.trim_at &&
		sort->stats.joined_rows == 0;
}

/*
 * Returns whether trimming would make room for a good number of rows, when there is no room for
 * more.
 */
static inline bool
gpusort_may_trim(const GpuSort *sort)
{
	return sort->bound.trim_at > 0 && sort->rows.count >= TRIM_MIN_ROWS / 4 &&
		sort->rows.count / 5 * 4 >= sort->bound.rows && sort->stats.joined_rows == 0;
}

/*
 * Choose the rows to be kept.  Afterwards the sort has no rows, but these are still in the row
 * store.
 */
extern void gpusort_begin_trim(GpuSort *sort, GpuSortTrim *trim);

/*
 * Move the next row that is kept behind those that were moved before it, in the order of arrival,
 * and tell in *row where it lies.  Returns false if there is none.
 */
extern bool gpusort_move_kept_row(GpuSort *sort, GpuSortTrim *trim, GpuSortStoredRow *row);

/* End a trim: all kept rows have been moved, and are rows of the sort again. */
extern void gpusort_end_trim(GpuSort *sort, GpuSortTrim *trim);

/* Find out where the first key lies in tuples of the table that rows come from now. */
extern void gpusort_place_bound(GpuSort *sort);

/*
 * Returns whether row `id`, which is stored and has its keys but is not counted yet, belongs behind
 * the last row wanted of a sort that has been trimmed.  An equal row does, since it came later.
 */
extern bool gpusort_is_beyond_bound(GpuSort *sort, uint32 id);

/*
 * Returns the same of a row that has not been stored, by PostgreSQL's comparison.  The row is in a
 * slot, or is a whole tuple on a page, whose attributes are then looked up one by one, so that no
 * slot has to find all of them up to the last key.
 */
extern bool gpusort_slot_is_beyond_bound(GpuSort *sort, TupleTableSlot *slot);
extern bool gpusort_tuple_is_beyond_bound(GpuSort *sort, HeapTuple tuple);

/*
 * Returns the same of a tuple on a page whose first key is an integer at a known place.  False if
 * that key can't tell.
 */
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
