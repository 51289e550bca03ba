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
 * Encode one sort column's value of row `id`, which is in the row store as told; NULL: it is not
 * stored.  False if there was no room for its string, or no encoding, which value_refused tells.
 */
extern bool gpusort_put_key(GpuSort *sort, GpuSortColumn *column, uint32 id, Datum value,
							bool is_null, const GpuSortStoredRow *row);

/*
 * The same for a value of a tuple, which is not null.  Plain integers, which dates and
 * timestamps are, too, cost no call.
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
