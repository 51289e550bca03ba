/*
 * row_store_columns.c
 *		Storing rows that are made of a table's tuples; see rows_private.h.
 *
 * Where a scan projects, the row is put together from the tuple on the page, directly in the row
 * store.  No slot is filled, and the tuple is deformed only up to the last column that is wanted,
 * or not at all if all columns lie at fixed places.  Values that were computed from the tuple go
 * between the copied columns.  The leading columns of the rows are often the table's first
 * attributes in their order (SELECT *, lower(t)); then they are copied together.
 *
 * Copied values stay as they are on the page, with a short header or toasted.  A MinimalTuple may
 * have them in these forms, too.  Computed values get a short header if they can, as
 * heap_fill_tuple() does.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/tupmacs.h"

#include "sort/rows_private.h"
#include "sort/sort.h"
#include "sort/state_private.h"

/* A column of the rows. */
typedef struct SelectedColumn
{
	/* index in values[]: the table's attribute, from 0, or an index behind these */
	int			attribute;
	bool		is_value;		/* a value that does not come from the table */
	bool		may_be_short;	/* a value that may get a short header */
	bool		attbyval;
	int16		attlen;
	char		attalign;
	int			fixed_offset;	/* as gpusort_fixed_offset(); -1 for a value */

	/* in the row that is being made, by lay_out_row() */
	uint32		bytes;			/* that the column takes */
	bool		make_short;		/* the value gets a short header */
} SelectedColumn;

/* How rows are made of the tuples of one table. */
typedef struct GpuSortSelection
{
	struct GpuSortSelection *next;	/* the selection of another table, or NULL */
	const GpuSortRowColumns *from;
	int			natts;			/* the table's attributes up to the last one that is selected */
	/* leading columns: the first columns that are the table's first attributes */
	int			nleading;
	/*
	 * attributes up to the last one whose place must be known, since it is copied by itself or is a
	 * sort column; find_values() may have to find more of them
	 */
	int			nfound;
	bool		leading_varwidth;	/* some leading column is of varying length */
	/* rows without nulls are of fixed length, and all columns lie at fixed places */
	bool		fixed;
	uint32		leading_bytes;	/* of the current row, the bytes of its leading columns */
	/* the current tuple's values by attribute, followed by the other values; NULL for a null */
	const char **values;
	/* room for other values that are passed by value, in the form in which they are stored */
	Datum	   *stored;
	/*
	 * of the current row, if it is not fixed: where values lie by column, 0 for a null; valid for
	 * sort columns
	 */
	uint32	   *offsets;
	int			ncolumns;
	SelectedColumn columns[FLEXIBLE_ARRAY_MEMBER];
} GpuSortSelection;

/*
 * Sets *column to where column i of the rows comes from.  `to` is the attribute of the rows.
 * Returns false if values of the column can't be copied.
 */
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

/*
 * Gives the values that don't come from the table indexes in values[], behind those of the table's
 * attributes.
 */
static void
number_values(GpuSortSelection *selection)
{
	int			attribute = selection->natts;

	for (int i = 0; i < selection->ncolumns; i++)
		if (selection->columns[i].is_value)
			selection->columns[i].attribute = attribute++;
}

/*
 * Finds out which leading columns are copied together, and up to which attribute places must be
 * known nevertheless.
 */
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

/* Makes a selection for the sort's rows.  Returns NULL if rows can't be made of these columns. */
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

/*
 * A selection is made only once for each table, and found again when its tuples are read once more,
 * or when the sort is done anew.
 */
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

/* Copies a value.  Most values have the length of an integer. */
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

/* Copies a varlena and gives it a header of one byte. */
static inline void
copy_shortened(char *to, const char *from, size_t bytes)
{
	SET_VARSIZE_SHORT(to, bytes);
	memcpy(to + 1, VARDATA(from), bytes - 1);
}

/* Stores a row whose values lie at fixed places, none of which is null. */
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

/*
 * Sets values[] for the values that do not come from the table.  Returns whether one of them is
 * null.
 */
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
 * Sets values[] for those attributes of a tuple whose places must be known, and leading_bytes.  To
 * find the end of the leading columns, all of them must be looked at, unless the tuple has no other
 * attributes.
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

/* Returns the bytes in front of a row's data. */
static uint32
header_bytes(const GpuSortSelection *selection, uint16 infomask)
{
	return MAXALIGN(SizeofMinimalTupleHeader +
					((infomask & HEAP_HASNULL) != 0 ? BITMAPLEN(selection->ncolumns) : 0));
}

/*
 * Returns the infomask bits for a row's leading columns: whether there are nulls, values of varying
 * length or external values.
 */
static uint16
infomask_of_leading(const GpuSortSelection *selection, HeapTupleHeader tuple)
{
	bool		has_nulls = (tuple->t_infomask & HEAP_HASNULL) != 0;
	bool		any_external = (tuple->t_infomask & HEAP_HASEXTERNAL) != 0;
	uint16		infomask = 0;

	/* if the tuple has no other attributes, these are its own bits */
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
				(att->attlen == -1 && VARATT_IS_EXTERNAL(selection->values[i])
				 ? HEAP_HASEXTERNAL : 0);
	}
	return infomask;
}

/*
 * Returns the infomask bits for a row, but not yet those for values of varying length behind its
 * leading columns.
 */
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
 * Lays out a row of the values that were found: sets offsets[], and bytes and make_short of each
 * column behind the leading ones.  Returns the length of the row, and its infomask bits in
 * *infomask.
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

/* Sets the bits of the columns that are not null in the bitmap of a row. */
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

/* Stores a row of any values, which may be null or of varying length. */
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
		/* padding must be zeros: att_align_pointer() takes another byte for a short header */
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

	/* attributes that were added to the table later have defaults, which are not in the tuple */
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
