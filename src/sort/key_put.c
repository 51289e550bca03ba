/*
 * key_put.c
 *		A sort column's value into its planes; see key_put.h.
 *
 * Byte strings keep their first word in the plane and a reference to the whole.
 * A string that lies in the source tuple is referred to where the tuple was
 * copied to; one that the codec made (a collation's sort key, a detoasted
 * value) is appended to the row store if the word does not say it all.
 */
#include "postgres.h"

#include "sort/key_put.h"
#include "sort/key_strings.h"
#include "sort/row_store.h"
#include "sort/sort_memory.h"

/* The bitmap of nulls appears with a column's first null, row `id`. */
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
 * Mark row `id` null in the column.  The engine does not look at its words; the
 * refinement of nulls that tie finds an empty string and zeros.
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
 * Have a string in the row store: in the stored tuple, if it lies in the tuple
 * that was copied, else in a copy of its own.
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

/* Store the first word of row `id`, and the string that its key is made of. */
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

/* Store a byte string key of row `id`. */
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
		/* a complete key lies in its word, which serves as its string too */
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
