/*
 * row_store_columns.c
 *		Storing rows that are made of a table's tuples; see row_store_columns.h.
 *
 * Where a scan projects, the row is put together from the tuple on the page, straight in
 * the row store: no slot is filled, and tuples are deformed up to the last column wanted, or
 * not at all if all of them lie at fixed places.  Between the columns come the values that
 * others have made of the tuple.  The first columns of rows are the table's first ones, as a rule
 * (SELECT *, lower(t)), and are copied together.
 *
 * Values are copied as they lie on the page, short or toasted, which are forms
 * that a MinimalTuple may have them in, too.  Those of others are made short, as
 * heap_fill_tuple() does.
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
	int			attribute;		/* of the table, from 0; behind those of the table: another value */
	bool		is_value;		/* ... which this is */
	bool		may_be_short;	/* ... and may get a short header */
	bool		attbyval;
	int16		attlen;
	char		attalign;
	int			fixed_offset;	/* in tuples without nulls; -1: that varies */

	/* in the row being made */
	uint32		bytes;
	bool		make_short;
} SelectedColumn;

typedef struct GpuSortSelection
{
	struct GpuSortSelection *next;	/* of another table, or NULL */
	const GpuSortRowColumns *from;
	int			natts;			/* of the table, up to the last one wanted */
	int			nleading;		/* first columns that are the table's first attributes */
	int			nfound;			/* attributes whose places must be known, those that are copied by
								 * themselves and sort columns; but see find_values() */
	bool		leading_varwidth;	/* one of the leading columns is of varying length */
	bool		fixed;			/* rows are of fixed length, from fixed places */
	uint32		leading_bytes;	/* of a row: of its leading columns */
	const char **values;		/* of a tuple: by attribute, NULL: null; then the others */
	Datum	   *stored;			/* ... that are passed by value, as they are stored */
	uint32	   *offsets;		/* of a row that is not fixed: by column, 0: null; known of
								 * sort columns */
	int			ncolumns;
	SelectedColumn columns[FLEXIBLE_ARRAY_MEMBER];
} GpuSortSelection;

/* Where column i of the rows comes from; false if it can't be copied from there. */
static bool
select_column(const GpuSortRowColumns *from, int i, Form_pg_attribute to, SelectedColumn *column)
{
	column->attlen = to->attlen;
	column->attalign = to->attalign;
	column->attbyval = to->attbyval;
	column->is_value = from->attnos[i] == 0;
	column->fixed_offset = -1;
	if (column->is_value)
	{
		column->may_be_short = to->attlen == -1 && to->attstorage != TYPSTORAGE_PLAIN;
		return to->attlen >= -1;
	}
	column->attribute = from->attnos[i] - 1;
	column->fixed_offset = gpusort_fixed_offset(from->table, from->attnos[i]);
	return TupleDescAttr(from->table, column->attribute)->attlen == to->attlen &&
		TupleDescAttr(from->table, column->attribute)->attalign == to->attalign &&
		to->attlen >= -1;
}

/* Number the values behind the table's attributes. */
static void
number_values(GpuSortSelection *selection)
{
	int			attribute = selection->natts;

	for (int i = 0; i < selection->ncolumns; i++)
		if (selection->columns[i].is_value)
			selection->columns[i].attribute = attribute++;
}

/* Find out which columns are copied together, and which attributes have to be found even so. */
static void
select_leading(GpuSort *sort, GpuSortSelection *selection)
{
	const AttrNumber *attnos = selection->from->attnos;

	while (selection->nleading < selection->ncolumns &&
		   attnos[selection->nleading] == selection->nleading + 1)
	{
		selection->leading_varwidth |=
			TupleDescAttr(selection->from->table, selection->nleading)->attlen < 0;
		selection->nleading++;
	}
	for (int i = selection->nleading; i < selection->ncolumns; i++)
		selection->nfound = Max(selection->nfound, attnos[i]);
	for (int i = 0; i < sort->keys.ncolumns; i++)
		selection->nfound = Max(selection->nfound, attnos[sort->keys.columns[i].attno - 1]);
}

/* Prepare for making rows of a table's tuples; NULL if that can't be. */
static GpuSortSelection *
make_selection(GpuSort *sort, const GpuSortRowColumns *columns)
{
	int			ncolumns = sort->desc->natts;
	GpuSortSelection *selection;

	if (ncolumns == 0 || ncolumns > MaxTupleAttributeNumber)
		return NULL;
	Assert(ncolumns <= columns->ncolumns);
	selection = MemoryContextAllocZero(sort->context, offsetof(GpuSortSelection, columns) +
									   ncolumns * sizeof(SelectedColumn));
	selection->from = columns;
	selection->ncolumns = ncolumns;
	selection->fixed = sort->rows.template.tuple != NULL;
	for (int i = 0; i < ncolumns; i++)
	{
		SelectedColumn *column = &selection->columns[i];

		if (!select_column(columns, i, TupleDescAttr(sort->desc, i), column))
		{
			pfree(selection);
			return NULL;
		}
		selection->fixed &= column->is_value || column->fixed_offset >= 0;
		selection->natts = Max(selection->natts, columns->attnos[i]);
	}
	number_values(selection);
	select_leading(sort, selection);
	selection->values = MemoryContextAlloc(sort->context, (selection->natts + columns->nvalues) *
										   sizeof(char *));
	selection->stored = MemoryContextAlloc(sort->context, columns->nvalues * sizeof(Datum));
	selection->offsets = MemoryContextAlloc(sort->context, ncolumns * sizeof(uint32));
	return selection;
}

/* The input of a sort that is done anew is still the same. */
bool
gpusort_row_store_select(GpuSort *sort, const GpuSortRowColumns *columns)
{
	GpuSortSelection *selection = sort->rows.selections;

	while (selection != NULL && selection->from != columns)
		selection = selection->next;
	if (selection == NULL)
	{
		selection = make_selection(sort, columns);
		if (selection == NULL)
			return false;
		selection->next = sort->rows.selections;
		sort->rows.selections = selection;
	}
	sort->rows.selection = selection;
	return true;
}

void
gpusort_row_store_select_none(GpuSort *sort)
{
	sort->rows.selection = NULL;
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

/* Copy a value with a header of one byte. */
static inline void
copy_shortened(char *to, const char *from, size_t bytes)
{
	SET_VARSIZE_SHORT(to, bytes);
	memcpy(to + 1, VARDATA(from), bytes - 1);
}

/* Store a row of values at fixed places, none of which is null. */
static bool
put_fixed_columns(GpuSort *sort, HeapTuple source, GpuSortStoredRow *row)
{
	HeapTupleHeader tuple = source->t_data;
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

		copy_value(to + template->offsets[i],
				   column->is_value ? selection->values[column->attribute]
				   : data + column->fixed_offset, column->attlen);
	}
	return true;
}

/* Find the values that come from elsewhere; is one null? */
static bool
find_other_values(GpuSortSelection *selection)
{
	const GpuSortRowColumns *from = selection->from;
	bool		any_nulls = false;
	int			n = 0;

	if (from->nvalues == 0)
		return false;
	for (int i = 0; i < selection->ncolumns; i++)
	{
		const SelectedColumn *column = &selection->columns[i];
		const char *value;

		if (!column->is_value)
			continue;
		value = DatumGetPointer(from->values[n]);
		if (from->isnull[n])
		{
			value = NULL;
			any_nulls = true;
		}
		else if (column->attbyval)
		{
			store_att_byval(&selection->stored[n], from->values[n], column->attlen);
			value = (const char *) &selection->stored[n];
		}
		selection->values[column->attribute] = value;
		n++;
	}
	return any_nulls;
}

/*
 * Find the values of a tuple that must be known, and where its leading columns end: nothing if these
 * are all that it has.
 */
static void
find_values(GpuSortSelection *selection, HeapTuple source)
{
	HeapTupleHeader tuple = source->t_data;
	const char *data = (const char *) tuple + tuple->t_hoff;
	bool		has_nulls = (tuple->t_infomask & HEAP_HASNULL) != 0;
	bool		leading_are_all = HeapTupleHeaderGetNatts(tuple) == selection->nleading;
	int			nfound = leading_are_all ? selection->nfound
		: Max(selection->nfound, selection->nleading);
	int			offset = 0;

	if (leading_are_all)
		selection->leading_bytes = source->t_len - tuple->t_hoff;
	for (int i = 0; i < nfound; i++)
	{
		Form_pg_attribute att = TupleDescAttr(selection->from->table, i);

		selection->values[i] = NULL;
		if (!has_nulls || !att_isnull(i, tuple->t_bits))
		{
			offset = att_align_pointer(offset, att->attalign, att->attlen, data + offset);
			selection->values[i] = data + offset;
			offset = att_addlength_pointer(offset, att->attlen, data + offset);
		}
		if (i + 1 == selection->nleading && !leading_are_all)
			selection->leading_bytes = offset;
	}
}

/* Bytes in front of a row's data. */
static uint32
header_bytes(const GpuSortSelection *selection, uint16 infomask)
{
	return MAXALIGN(SizeofMinimalTupleHeader +
					((infomask & HEAP_HASNULL) != 0 ? BITMAPLEN(selection->ncolumns) : 0));
}

/* What is to be known about a row's leading columns, all of them or those that were found. */
static uint16
infomask_of_leading(const GpuSortSelection *selection, HeapTupleHeader tuple)
{
	bool		has_nulls = (tuple->t_infomask & HEAP_HASNULL) != 0;
	bool		any_external = (tuple->t_infomask & HEAP_HASEXTERNAL) != 0;
	uint16		infomask = 0;

	/* the whole tuple's, as a rule */
	if (HeapTupleHeaderGetNatts(tuple) == selection->nleading)
		return tuple->t_infomask & (HEAP_HASVARWIDTH | HEAP_HASEXTERNAL | HEAP_HASNULL);
	if (!has_nulls && !any_external)
		return selection->leading_varwidth ? HEAP_HASVARWIDTH : 0;
	for (int i = 0; i < selection->nleading; i++)
	{
		Form_pg_attribute att = TupleDescAttr(selection->from->table, i);

		if (selection->values[i] == NULL)
			infomask |= HEAP_HASNULL;
		else if (att->attlen < 0)
			infomask |= HEAP_HASVARWIDTH |
				(att->attlen == -1 && VARATT_IS_EXTERNAL(selection->values[i]) ? HEAP_HASEXTERNAL : 0);
	}
	return infomask;
}

/* What is to be known about a row, other columns' values apart. */
static uint16
infomask_of_row(const GpuSortSelection *selection, HeapTupleHeader tuple)
{
	uint16		infomask = infomask_of_leading(selection, tuple);

	for (int i = selection->nleading; i < selection->ncolumns; i++)
		if (selection->values[selection->columns[i].attribute] == NULL)
			infomask |= HEAP_HASNULL;
	return infomask;
}

/*
 * Lay out a row of the values found: offsets and lengths.  Returns its own length,
 * and what is to be known about it in *infomask.
 */
static uint32
lay_out_row(GpuSortSelection *selection, HeapTupleHeader tuple, uint16 *infomask)
{
	const char *data = (const char *) tuple + tuple->t_hoff;
	uint32		header;
	uint32		length;

	*infomask = infomask_of_row(selection, tuple);
	header = header_bytes(selection, *infomask);
	for (int i = 0; i < Min(selection->nleading, selection->nfound); i++)
		selection->offsets[i] = selection->values[i] == NULL ? 0
			: header + (uint32) (selection->values[i] - data);
	length = header + selection->leading_bytes;
	for (int i = selection->nleading; i < selection->ncolumns; i++)
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
			column->make_short = column->may_be_short && VARATT_CAN_MAKE_SHORT(value);
			column->bytes = column->make_short ? VARATT_CONVERTED_SHORT_SIZE(value)
				: VARSIZE_ANY(value);
			aligned = !column->make_short && !VARATT_IS_1B(value);
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

/* Mark the columns that are not null. */
static void
fill_bitmap(const GpuSortSelection *selection, HeapTupleHeader source, MinimalTuple tuple)
{
	bool		has_nulls = (source->t_infomask & HEAP_HASNULL) != 0;

	for (int i = 0; i < selection->ncolumns; i++)
	{
		bool		is_null = i < selection->nleading
			? has_nulls && att_isnull(i, source->t_bits) : selection->offsets[i] == 0;

		if (!is_null)
			tuple->t_bits[i / BITS_PER_BYTE] |= 1 << (i % BITS_PER_BYTE);
	}
}

/* Store a row of any values. */
static bool
put_columns(GpuSort *sort, HeapTuple from, GpuSortStoredRow *row)
{
	GpuSortSelection *selection = sort->rows.selection;
	HeapTupleHeader source = from->t_data;
	MinimalTuple tuple;
	uint16		infomask;
	uint32		length;
	uint32		end;

	find_values(selection, from);
	length = lay_out_row(selection, source, &infomask);
	if (!gpusort_row_store_reserve(sort, length, &row->offset))
		return false;

	tuple = (MinimalTuple) (sort->rows.places.base + row->offset);
	end = header_bytes(selection, infomask);
	memset(tuple, 0, end);
	tuple->t_len = length;
	tuple->t_infomask = infomask;
	HeapTupleHeaderSetNatts(tuple, selection->ncolumns);
	tuple->t_hoff = end + MINIMAL_TUPLE_OFFSET;
	if ((infomask & HEAP_HASNULL) != 0)
		fill_bitmap(selection, source, tuple);
	memcpy((char *) tuple + end, (const char *) source + source->t_hoff, selection->leading_bytes);
	end += selection->leading_bytes;
	for (int i = selection->nleading; i < selection->ncolumns; i++)
	{
		const SelectedColumn *column = &selection->columns[i];
		uint32		offset = selection->offsets[i];

		if (offset == 0)
			continue;
		/* padding must be zeros: it tells where a value begins */
		while (end < offset)
			((char *) tuple)[end++] = 0;
		if (column->make_short)
			copy_shortened((char *) tuple + offset, selection->values[column->attribute],
						   column->bytes);
		else
			copy_value((char *) tuple + offset, selection->values[column->attribute],
					   column->bytes);
		end = offset + column->bytes;
	}
	return true;
}

bool
gpusort_row_store_put_columns(GpuSort *sort, HeapTuple tuple, GpuSortStoredRow *row,
							  const uint32 **offsets)
{
	GpuSortSelection *selection = sort->rows.selection;
	bool		any_nulls = find_other_values(selection) || HeapTupleHasNulls(tuple);
	bool		fixed = selection->fixed && !any_nulls;
	MinimalTuple stored;

	/* attributes that were added later have defaults, which are not in the tuple */
	if (HeapTupleHeaderGetNatts(tuple->t_data) < selection->natts ||
		!(fixed ? put_fixed_columns : put_columns) (sort, tuple, row))
		return false;
	stored = (MinimalTuple) (sort->rows.places.base + row->offset);
	stored_row_is_source(&sort->rows, row, stored->t_len);
	*offsets = fixed ? sort->rows.template.offsets : selection->offsets;
	return true;
}

bool
gpusort_row_store_find_columns(GpuSort *sort, HeapTuple tuple, const char **found)
{
	GpuSortSelection *selection = sort->rows.selection;
	bool		any_nulls = find_other_values(selection) || HeapTupleHasNulls(tuple);
	const char *data = (const char *) tuple->t_data + tuple->t_data->t_hoff;
	bool		fixed = selection->fixed && !any_nulls;

	if (HeapTupleHeaderGetNatts(tuple->t_data) < selection->natts)
		return false;
	if (!fixed)
		find_values(selection, tuple);
	for (int i = 0; i < selection->ncolumns; i++)
	{
		const SelectedColumn *column = &selection->columns[i];

		found[i] = fixed && !column->is_value ? data + column->fixed_offset
			: selection->values[column->attribute];
	}
	return true;
}
