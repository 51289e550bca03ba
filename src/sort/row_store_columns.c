/*
 * row_store_columns.c
 *		Storing rows that are columns of a table's tuples; see row_store_columns.h.
 *
 * Where a scan projects nothing but columns of its table, the row is put together
 * from the tuple on the page, straight in the row store: no expression is
 * evaluated, no slot filled, and tuples are deformed up to the last column
 * wanted, or not at all if all of them lie at fixed places.
 *
 * Values are copied as they lie on the page, short or toasted, which are forms
 * that a MinimalTuple may have them in, too.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/tupmacs.h"

#include "sort/fixed_offset.h"
#include "sort/row_store_columns.h"
#include "sort/sort_state.h"

/* A column of the rows. */
typedef struct SelectedColumn
{
	int			attribute;		/* of the table, from 0 */
	int16		attlen;
	char		attalign;
	int			fixed_offset;	/* in tuples without nulls; -1: that varies */
	uint32		bytes;			/* of its value in the row being made */
} SelectedColumn;

typedef struct GpuSortSelection
{
	TupleDesc	table;
	int			natts;			/* of the table, up to the last one wanted */
	bool		fixed;			/* rows are of fixed length, from fixed places */
	const char **values;		/* of a tuple: by attribute, NULL: null */
	uint32	   *offsets;		/* of a row that is not fixed: by column, 0: null */
	int			ncolumns;
	SelectedColumn columns[FLEXIBLE_ARRAY_MEMBER];
} GpuSortSelection;

bool
gpusort_row_store_select(GpuSort *sort, TupleDesc table, const AttrNumber *attnos)
{
	int			ncolumns = sort->desc->natts;
	GpuSortSelection *selection;

	/* the input of a sort that is done anew is still the same */
	if (sort->rows.selection != NULL)
		return true;
	if (ncolumns == 0 || ncolumns > MaxTupleAttributeNumber)
		return false;
	selection = MemoryContextAllocZero(sort->context, offsetof(GpuSortSelection, columns) +
									   ncolumns * sizeof(SelectedColumn));
	selection->table = table;
	selection->ncolumns = ncolumns;
	selection->fixed = sort->rows.template.tuple != NULL;
	for (int i = 0; i < ncolumns; i++)
	{
		SelectedColumn *column = &selection->columns[i];
		Form_pg_attribute from = TupleDescAttr(table, attnos[i] - 1);
		Form_pg_attribute to = TupleDescAttr(sort->desc, i);

		if (from->attlen != to->attlen || from->attalign != to->attalign || from->attlen < -1)
		{
			pfree(selection);
			return false;
		}
		column->attribute = attnos[i] - 1;
		column->attlen = from->attlen;
		column->attalign = from->attalign;
		column->fixed_offset = gpusort_fixed_offset(table, attnos[i]);
		selection->fixed &= column->fixed_offset >= 0;
		selection->natts = Max(selection->natts, attnos[i]);
	}
	selection->values = MemoryContextAlloc(sort->context, selection->natts * sizeof(char *));
	selection->offsets = MemoryContextAlloc(sort->context, ncolumns * sizeof(uint32));
	sort->rows.selection = selection;
	return true;
}

AttrNumber
gpusort_row_store_selected(const GpuSort *sort, AttrNumber attno, int *offset)
{
	const SelectedColumn *column = &sort->rows.selection->columns[attno - 1];

	*offset = column->fixed_offset;
	return column->attribute + 1;
}

/* Copy a value whose length is that of an integer, as a rule. */
static inline void
copy_value(char *to, const char *from, size_t bytes)
{
	switch (bytes)
	{
		case 8:
			memcpy(to, from, 8);
			break;
		case 4:
			memcpy(to, from, 4);
			break;
		default:
			memcpy(to, from, bytes);
	}
}

/* Store a row of values at fixed places, none of which is null. */
static bool
put_fixed_columns(GpuSort *sort, HeapTupleHeader tuple, GpuSortStoredRow *row)
{
	const GpuSortSelection *selection = sort->rows.selection;
	const GpuSortTemplate *template = &sort->rows.template;
	const char *data = (const char *) tuple + tuple->t_hoff;
	char	   *to;

	if (!gpusort_row_store_reserve(sort, template->length, &row->offset))
		return false;
	to = sort->rows.places.base + row->offset;
	memcpy(to, template->tuple, template->length);
	for (int i = 0; i < selection->ncolumns; i++)
	{
		const SelectedColumn *column = &selection->columns[i];

		copy_value(to + template->offsets[i], data + column->fixed_offset, column->attlen);
	}
	return true;
}

/* Find the values of a tuple, up to the last one wanted. */
static void
find_values(GpuSortSelection *selection, HeapTupleHeader tuple)
{
	const char *data = (const char *) tuple + tuple->t_hoff;
	bool		has_nulls = (tuple->t_infomask & HEAP_HASNULL) != 0;
	int			offset = 0;

	for (int i = 0; i < selection->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(selection->table, i);

		if (has_nulls && att_isnull(i, tuple->t_bits))
		{
			selection->values[i] = NULL;
			continue;
		}
		offset = att_align_pointer(offset, att->attalign, att->attlen, data + offset);
		selection->values[i] = data + offset;
		offset = att_addlength_pointer(offset, att->attlen, data + offset);
	}
}

/* Bytes in front of a row's data. */
static uint32
header_bytes(const GpuSortSelection *selection, uint16 infomask)
{
	return MAXALIGN(SizeofMinimalTupleHeader +
					((infomask & HEAP_HASNULL) != 0 ? BITMAPLEN(selection->ncolumns) : 0));
}

/*
 * Lay out a row of the values found: offsets and lengths.  Returns its own length,
 * and what is to be known about it in *infomask.
 */
static uint32
lay_out_row(GpuSortSelection *selection, uint16 *infomask)
{
	uint32		length;

	*infomask = 0;
	for (int i = 0; i < selection->ncolumns; i++)
		if (selection->values[selection->columns[i].attribute] == NULL)
			*infomask |= HEAP_HASNULL;
	length = header_bytes(selection, *infomask);
	for (int i = 0; i < selection->ncolumns; i++)
	{
		SelectedColumn *column = &selection->columns[i];
		const char *value = selection->values[column->attribute];
		bool		aligned = true;

		selection->offsets[i] = 0;
		if (value == NULL)
			continue;
		column->bytes = column->attlen;
		if (column->attlen == -1)
		{
			column->bytes = VARSIZE_ANY(value);
			aligned = !VARATT_IS_1B(value);
			*infomask |= HEAP_HASVARWIDTH;
			if (VARATT_IS_EXTERNAL(value))
				*infomask |= HEAP_HASEXTERNAL;
		}
		if (aligned)
			length = att_align_nominal(length, column->attalign);
		selection->offsets[i] = length;
		length += column->bytes;
	}
	return length;
}

/* Store a row of any values. */
static bool
put_columns(GpuSort *sort, HeapTupleHeader source, GpuSortStoredRow *row)
{
	GpuSortSelection *selection = sort->rows.selection;
	MinimalTuple tuple;
	uint16		infomask;
	uint32		length;
	uint32		end;

	find_values(selection, source);
	length = lay_out_row(selection, &infomask);
	if (!gpusort_row_store_reserve(sort, length, &row->offset))
		return false;

	tuple = (MinimalTuple) (sort->rows.places.base + row->offset);
	end = header_bytes(selection, infomask);
	memset(tuple, 0, end);
	tuple->t_len = length;
	tuple->t_infomask = infomask;
	HeapTupleHeaderSetNatts(tuple, selection->ncolumns);
	tuple->t_hoff = end + MINIMAL_TUPLE_OFFSET;
	for (int i = 0; i < selection->ncolumns; i++)
	{
		const SelectedColumn *column = &selection->columns[i];
		uint32		offset = selection->offsets[i];

		if (offset == 0)
			continue;
		if ((infomask & HEAP_HASNULL) != 0)
			tuple->t_bits[i / BITS_PER_BYTE] |= 1 << (i % BITS_PER_BYTE);
		/* padding must be zeros: it tells where a value begins */
		while (end < offset)
			((char *) tuple)[end++] = 0;
		copy_value((char *) tuple + offset, selection->values[column->attribute], column->bytes);
		end = offset + column->bytes;
	}
	return true;
}

bool
gpusort_row_store_put_columns(GpuSort *sort, HeapTupleHeader tuple, GpuSortStoredRow *row,
							  const uint32 **offsets)
{
	const GpuSortSelection *selection = sort->rows.selection;
	bool		fixed = selection->fixed && (tuple->t_infomask & HEAP_HASNULL) == 0;
	MinimalTuple stored;

	/* attributes that were added later have defaults, which are not in the tuple */
	if (HeapTupleHeaderGetNatts(tuple) < selection->natts ||
		!(fixed ? put_fixed_columns : put_columns) (sort, tuple, row))
		return false;
	stored = (MinimalTuple) (sort->rows.places.base + row->offset);
	stored_row_is_source(&sort->rows, row, stored->t_len);
	*offsets = fixed ? sort->rows.template.offsets : selection->offsets;
	return true;
}
