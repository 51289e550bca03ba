/*
 * key_rows.c
 *		Rows that are made of their keys; see rows_private.h.
 *
 * A row without nulls is a copy of the template, a MinimalTuple with a header of two words, in
 * which its values are put at their places.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/tupmacs.h"

#include "keys/key_codec.h"
#include "pg_compat.h"
#include "prefetch.h"
#include "sort/memory_private.h"
#include "sort/rows_private.h"
#include "sort/state_private.h"

/*
 * Several columns may take no more bytes than these, so that the whole key fits a word, as a rule.
 * Otherwise each row would take a cache miss for every column when it is returned; for a single
 * column it is only one.
 */
#define MAX_BYTES_OF_SEVERAL	sizeof(uint64)

StaticAssertDecl(sizeof(GpuSortRowRoom) >= MAXALIGN(SizeofMinimalTupleHeader + 1) +
				 GPUSORT_KEY_ROW_COLUMNS * sizeof(Datum),
				 "a row made of its keys must fit into its room");

/* Returns the sort column for an attribute (from 0) of the rows, or NULL. */
static GpuSortColumn *
find_sort_column(GpuSort *sort, int attribute)
{
	for (int i = 0; i < sort->keys.ncolumns; i++)
		if (sort->keys.columns[i].attno == attribute + 1)
			return &sort->keys.columns[i];
	return NULL;
}

/* Returns the codec by which the words of a sort column tell its values, or NULL. */
static const GpuSortCodec *
find_distinct_codec(const GpuSort *sort, const GpuSortColumn *column)
{
	const GpuSortCodec *codec = column->encoder.codec;
	bool		is_last = column == &sort->keys.columns[sort->keys.ncolumns - 1];

	if (codec->inverse == GPUSORT_INVERSE_NONE && is_last)
		codec = codec->distinct;
	return codec != NULL && codec->inverse != GPUSORT_INVERSE_NONE ? codec : NULL;
}

void
gpusort_prepare_key_rows(GpuSort *sort)
{
	GpuSortKeyRows *key_rows = &sort->key_rows;
	int			natts = sort->desc->natts;
	int			bytes = 0;

	key_rows->possible = false;
	if (sort->index_rows || sort->rows.template.tuple == NULL || natts > GPUSORT_KEY_ROW_COLUMNS ||
		sort->keys.ncolumns != natts)
		return;
	for (int i = 0; i < natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(sort->desc, i);
		GpuSortColumn *column = find_sort_column(sort, i);

		if (column == NULL || !att->attbyval)
			return;
		column->stored_codec = column->encoder.codec;
		column->distinct_codec = find_distinct_codec(sort, column);
		if (column->distinct_codec == NULL)
			return;
		key_rows->columns[i] = (GpuSortKeyRowColumn) {
			.column = column,
			.inverse = column->distinct_codec->inverse,
			.bytes = att->attlen,
			.offset = sort->rows.template.offsets[i]
		};
		bytes += att->attlen;
	}
	key_rows->possible = natts == 1 || bytes <= MAX_BYTES_OF_SEVERAL;
}

void
gpusort_use_key_rows(GpuSort *sort, bool use)
{
	GpuSortKeyRows *key_rows = &sort->key_rows;

	Assert(sort->rows.count == 0);
	use &= key_rows->possible;
	if (use == key_rows->used)
		return;
	/* the ranges begin again, so that all planes have room for the same number of rows */
	if (sort->rows.store != NULL)
		gpusort_rewind_ranges(sort);
	for (int i = 0; i < sort->keys.ncolumns; i++)
	{
		GpuSortColumn *column = &sort->keys.columns[i];

		column->encoder.codec = use ? column->distinct_codec : column->stored_codec;
	}
	key_rows->used = use;
}

size_t
gpusort_key_row_bytes(const GpuSort *sort)
{
	return MAXALIGN(sort->rows.template.length);
}

/* Returns a word of the column that is not that of a null, or 0 if there is none. */
static uint64
find_word(const GpuSortColumn *column, uint64 nrows)
{
	for (uint64 id = 0; id < nrows; id++)
		if (!column_is_null(column, (uint32) id))
			return RANGE_U64(column->words[0])[id];
	return 0;
}

/*
 * Returns whether there are rows, and the column is null in all of them.  The keys don't tell that.
 */
static bool
all_are_null(const GpuSortColumn *column, uint64 nrows)
{
	for (uint64 id = 0; id < nrows; id++)
		if (!column_is_null(column, (uint32) id))
			return false;
	return nrows > 0;
}

void
gpusort_read_keys(GpuSort *sort, const uint64 *keys, const gs_layout *layout)
{
	sort->order.keys = keys;
	for (int i = 0; i < sort->desc->natts; i++)
	{
		GpuSortKeyRowColumn *to = &sort->key_rows.columns[i];
		int			plane = to->column - sort->keys.columns;

		to->unpacking = gs_layout_find_word(layout, plane, 0);
		if (to->unpacking.width == 0)
			to->unpacking.min = find_word(to->column, sort->rows.count);
		to->always_null = to->unpacking.width == 0 && to->unpacking.flag == 0 &&
			to->column->nulls != NULL && all_are_null(to->column, sort->rows.count);
	}
}

static inline void
store_bytes(char *to, uint64 value, int bytes)
{
	switch (bytes)
	{
		case sizeof(uint64):
			*(uint64 *) to = value;
			break;
		case sizeof(uint32):
			*(uint32 *) to = (uint32) value;
			break;
		case sizeof(uint16):
			*(uint16 *) to = (uint16) value;
			break;
		default:
			*to = (char) value;
			break;
	}
}

/* The values of a row. */
typedef struct RowValues
{
	uint64		values[GPUSORT_KEY_ROW_COLUMNS];
	bool		isnull[GPUSORT_KEY_ROW_COLUMNS];
	bool		any_null;
} RowValues;

/* Forms a row with nulls, which take no room in its data. */
static pg_noinline void
form_row_with_nulls(const GpuSort *sort, const RowValues *row, GpuSortRowRoom *room)
{
	MinimalTuple tuple = (MinimalTuple) room;
	int			natts = sort->desc->natts;
	size_t		header = MAXALIGN(SizeofMinimalTupleHeader + BITMAPLEN(natts));
	size_t		at = header;

	memset(room, 0, sizeof(*room));
	for (int i = 0; i < natts; i++)
	{
		int			bytes = sort->key_rows.columns[i].bytes;

		if (row->isnull[i])
			continue;
		at = att_align_nominal(at, TupleDescAttr(sort->desc, i)->attalign);
		store_bytes((char *) room + at, row->values[i], bytes);
		at += bytes;
		tuple->t_bits[0] |= 1 << i;
	}
	tuple->t_len = at;
	tuple->t_infomask = HEAP_HASNULL;
	HeapTupleHeaderSetNatts(tuple, natts);
	tuple->t_hoff = header + MINIMAL_TUPLE_OFFSET;
}

/* Forms a row of its values in *room. */
static inline void
form_row(const GpuSort *sort, const RowValues *row, GpuSortRowRoom *room)
{
	const GpuSortTemplate *template = &sort->rows.template;
	const uint64 *from = (const uint64 *) template->tuple;
	uint64	   *to = (uint64 *) room;

	if (unlikely(row->any_null))
	{
		form_row_with_nulls(sort, row, room);
		return;
	}
	for (size_t i = 0; i < MAXALIGN(template->length) / sizeof(uint64); i++)
		to[i] = from[i];
	for (int i = 0; i < sort->desc->natts; i++)
		store_bytes((char *) room + sort->key_rows.columns[i].offset, row->values[i],
					sort->key_rows.columns[i].bytes);
}

/* Forms a row of a key that the engine has sorted. */
static inline void
form_row_of_key(const GpuSort *sort, uint64 key, GpuSortRowRoom *room)
{
	RowValues	row = {.any_null = false};

	for (int i = 0; i < sort->desc->natts; i++)
	{
		const GpuSortKeyRowColumn *column = &sort->key_rows.columns[i];
		uint64		word = gs_unpack_word(&column->unpacking, key) ^ column->column->flip;

		row.values[i] = gpusort_value_of_word(column->inverse, word);
		row.isnull[i] = column->always_null || gs_unpack_is_null(&column->unpacking, key);
		row.any_null |= row.isnull[i];
	}
	form_row(sort, &row, room);
}

void
gpusort_make_key_row(const GpuSort *sort, uint32 id, GpuSortRowRoom *room)
{
	RowValues	row = {.any_null = false};

	for (int i = 0; i < sort->desc->natts; i++)
	{
		const GpuSortKeyRowColumn *column = &sort->key_rows.columns[i];
		uint64		word = RANGE_U64(column->column->words[0])[id] ^ column->column->flip;

		row.values[i] = gpusort_value_of_word(column->inverse, word);
		row.isnull[i] = column_is_null(column->column, id);
		row.any_null |= row.isnull[i];
	}
	form_row(sort, &row, room);
}

/* Makes the rows of ids[0..count-1], and prefetches the words of ids[count..ahead_to-1]. */
static void
make_rows_of_ids(const GpuSort *sort, const uint32 *ids, int count, int ahead_to,
				 GpuSortRowRoom *room)
{
	for (int i = 0; i < count; i++)
		gpusort_make_key_row(sort, ids[i], &room[i]);
	for (int i = count; i < ahead_to; i++)
		for (int k = 0; k < sort->desc->natts; k++)
			prefetch_line(&RANGE_U64(sort->keys.columns[k].words[0])[ids[i]]);
}

/* Makes rows of a single integer column of this width, in which no row is null. */
static pg_always_inline void
make_integer_rows(const GpuSort *sort, const uint64 *keys, int count, int bytes,
				  GpuSortRowRoom *room)
{
	const GpuSortKeyRowColumn *column = &sort->key_rows.columns[0];
	const gs_unpacking unpacking = column->unpacking;
	uint64		flip = column->column->flip ^ gpusort_value_of_word(column->inverse, 0);
	const uint64 *from = (const uint64 *) sort->rows.template.tuple;
	uint64		header[] = {from[0], from[1], from[2]};

	Assert(column->offset == 2 * sizeof(uint64));
	for (int i = 0; i < count; i++)
	{
		uint64	   *to = (uint64 *) &room[i];
		uint64		value = gs_unpack_word(&unpacking, keys[i]) ^ flip;

		to[0] = header[0];
		to[1] = header[1];
		if (bytes < sizeof(uint64))
			to[2] = header[2];
		store_bytes((char *) &to[2], value, bytes);
	}
}

/* Makes the rows of count keys that the engine has sorted. */
static void
make_rows_of_keys(const GpuSort *sort, const uint64 *keys, int count, GpuSortRowRoom *room)
{
	const GpuSortKeyRowColumn *column = &sort->key_rows.columns[0];
	bool		is_integer = sort->desc->natts == 1 && column->unpacking.flag == 0 &&
		!column->always_null && (column->inverse == GPUSORT_INVERSE_SIGNED ||
								 column->inverse == GPUSORT_INVERSE_UNSIGNED);

	if (is_integer && column->bytes == sizeof(uint64))
		make_integer_rows(sort, keys, count, sizeof(uint64), room);
	else if (is_integer && column->bytes == sizeof(uint32))
		make_integer_rows(sort, keys, count, sizeof(uint32), room);
	else
		for (int i = 0; i < count; i++)
			form_row_of_key(sort, keys[i], &room[i]);
}

void
gpusort_make_key_rows(GpuSort *sort, uint64 from, int count, int ahead_to, GpuSortRowRoom *room,
					  void **rows)
{
	for (int i = 0; i < count; i++)
		rows[i] = &room[i];
	if (sort->order.keys != NULL)
		make_rows_of_keys(sort, sort->order.keys + from, count, room);
	else
		make_rows_of_ids(sort, sort->order.ids + from, count, ahead_to, room);
}
