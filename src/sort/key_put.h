/*
 * key_put.h
 *		A sort column's value into its planes.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_KEY_PUT_H
#define GPUSORT_KEY_PUT_H

#include "access/tupmacs.h"

#include "pg_compat.h"
#include "sort/row_store.h"
#include "sort/sort_state.h"

/*
 * Encodes one sort column's value of row `id` into the column's planes.  `row` tells how the row
 * was stored; NULL: it is not stored.  Returns false if there is no room for the value's string, or
 * if the value has no encoding; then keys.value_refused is set.
 */
extern bool gpusort_put_key(GpuSort *sort, GpuSortColumn *column, uint32 id, Datum value,
							bool is_null, const GpuSortStoredRow *row);

/*
 * Does the same for a value that lies in a tuple and is not null.  Plain integers, which include
 * dates and timestamps, take no function call.
 */
static pg_always_inline bool
gpusort_put_stored_key(GpuSort *sort, GpuSortColumn *column, uint32 id,
					   const char *value, const GpuSortStoredRow *row)
{
	uint64		word;

	switch (column->integer_bytes)
	{
		case sizeof(int64):
			word = word_from_int64(*(const int64 *) value);
			break;
		case sizeof(int32):
			word = word_from_int64(*(const int32 *) value);
			break;
		default:
			return gpusort_put_key(sort, column, id,
								   fetch_att(value, column->attbyval, column->attlen),
								   false, row);
	}
	if (column->nulls != NULL && (id & 63) == 0)
		RANGE_U64(column->nulls)[id >> 6] = 0;
	RANGE_U64(column->words[0])[id] = word ^ column->flip;
	return true;
}

#endif							/* GPUSORT_KEY_PUT_H */
