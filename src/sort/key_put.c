/*
 * key_put.c
 *		A sort column's value into its planes; see keys_private.h.
 *
 * A byte string has its first word in the prefix plane, and a reference to the whole string.  If
 * the string lies in the source tuple, the reference is to the copy of that tuple in the row store.
 * If the codec has made the string (a collation's sort key, a detoasted value), it is appended to
 * the row store, unless its first word holds all of it.
 */
#include "postgres.h"

#include "sort/keys_private.h"
#include "sort/memory_private.h"
#include "sort/rows_private.h"
#include "sort/state_private.h"

/*
 * Makes the bitmap of nulls of a column when its first null comes, in row `id`.  Returns false if
 * there is no memory.
 */
static bool
begin_nulls(GpuSort *sort, GpuSortColumn *column, uint32 id)
{
	int			role = GPUSORT_PLANE_ROLE(column - sort->keys.columns, GPUSORT_NULLS_ROLE);
	GpuSortRange *range = gpusort_acquire_bitmap(sort, role);

	if (range == NULL)
		return false;
	/* later words are cleared when their first row arrives (gpusort_put_key) */
	memset(range->base, 0, (id / 64 + 1) * sizeof(uint64));
	column->nulls = range;
	gpusort_set_rows_end(sort);
	return true;
}

/*
 * Marks row `id` null in the column.  The engine does not look at the words of nulls.  The
 * refinement does where nulls tie, and finds an empty string and zeros.
 */
static bool
put_null(GpuSort *sort, GpuSortColumn *column, uint32 id)
{
	if (column->nulls == NULL && !begin_nulls(sort, column, id))
		return false;
	RANGE_U64(column->nulls)[id >> 6] |= UINT64CONST(1) << (id & 63);
	if (column->bytes != GPUSORT_BYTES_NONE)
	{
		RANGE_U64(column->prefix)[id] = 0;
		RANGE_U64(column->refs)[id] = 0;
	}
	for (int w = 0; w < column->nwords; w++)
		RANGE_U64(column->words[w])[id] = 0;
	return true;
}

/*
 * Finds the string of a key in the row store, and returns its offset.  A string that lies in the
 * source tuple is in the stored tuple already; any other is appended.  Returns false if there is no
 * room, or if the string is too long.
 */
static bool
keep_string(GpuSort *sort, const GpuSortKey *key, const GpuSortStoredRow *row, size_t *offset)
{
	if (unlikely(key->len > KEY_REF_MAX_LENGTH))
	{
		sort->keys.value_refused = true;
		return false;
	}
	if (row->source != NULL && key->data >= row->source &&
		key->data + key->len <= row->source + row->source_len)
	{
		*offset = row->copy + (key->data - row->source) - sort->rows.places.base;
		return true;
	}
	if (!gpusort_row_store_reserve(sort, key->len, offset))
		return false;
	memcpy(sort->rows.places.base + *offset, key->data, key->len);
	return true;
}

/*
 * Stores the prefix word of row `id` that a lazy encoder has made, and a reference to the string
 * that the key can be made of.
 */
static bool
put_lazy(GpuSort *sort, GpuSortColumn *column, uint32 id, const GpuSortKey *key,
		 const GpuSortStoredRow *row)
{
	size_t		offset;

	if (!keep_string(sort, key, row, &offset))
		return false;
	RANGE_U64(column->prefix)[id] = key->prefix ^ column->flip;
	RANGE_U64(column->refs)[id] = KEY_REF(offset, key->len);
	column->facts.long_keys = true;
	column->facts.common_len = 0;
	return true;
}

/*
 * Stores the prefix word of row `id`, and a reference to the string if it goes on behind the word.
 */
static bool
put_bytes(GpuSort *sort, GpuSortColumn *column, uint32 id, const GpuSortKey *key,
		  const GpuSortStoredRow *row)
{
	uint64		ref = 0;

	RANGE_U64(column->prefix)[id] = bytes_word(column->bytes, key->data, key->len, 0) ^
		column->flip;

	if (bytes_continue(column->bytes, key->len, 0))
	{
		size_t		offset;

		if (!keep_string(sort, key, row, &offset))
			return false;
		ref = KEY_REF(offset, key->len);
		column->facts.long_keys = true;
		if (column->facts.common_len > 0)
			gpusort_note_common_prefix(&column->facts, sort->rows.places.base, ref, key->data,
									   key->len);
	}
	else
	{
		/*
		 * the word holds the complete string, which needs no copy: a reference is its length only
		 */
		ref = key->len;
		column->facts.common_len = 0;
	}
	RANGE_U64(column->refs)[id] = ref;
	return true;
}

bool
gpusort_put_key(GpuSort *sort, GpuSortColumn *column, uint32 id, Datum value, bool is_null,
				const GpuSortStoredRow *row)
{
	GpuSortKey	key;

	if (column->nulls != NULL && (id & 63) == 0)
		RANGE_U64(column->nulls)[id >> 6] = 0;
	if (is_null)
		return put_null(sort, column, id);
	if (unlikely(!column->encoder.codec->encode(&column->encoder, value, &key)))
	{
		sort->keys.value_refused = true;
		return false;
	}
	if (column->bytes != GPUSORT_BYTES_NONE &&
		unlikely(!(column->lazy ? put_lazy : put_bytes) (sort, column, id, &key, row)))
		return false;
	for (int w = 0; w < column->nwords; w++)
		RANGE_U64(column->words[w])[id] = key.words[w] ^ column->flip;
	return true;
}
