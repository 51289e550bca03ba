/*
 * row_store_index.c
 *		Storing rows as index tuples; see rows_private.h.
 *
 * This makes the same tuples as index_form_tuple(), but in place: without palloc, and without
 * computing anything anew for rows of fixed-length values.  Values that have to be detoasted or
 * compressed first are left to index_form_tuple() itself, which also raises the error for tuples
 * that are too long.
 */
#include "postgres.h"

#include "access/heaptoast.h"
#include "access/htup_details.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "interrupts.h"
#include "pg_compat.h"
#include "sort/rows_private.h"
#include "sort/sort.h"
#include "sort/state_private.h"

void
gpusort_make_index_template(GpuSortTemplate *template, TupleDesc desc)
{
	gpusort_make_template(template, desc, IndexInfoFindDataOffset(0));
	if (template->tuple == NULL)
		return;
	template->length = MAXALIGN(template->length);
	if (template->length > INDEX_SIZE_MASK)
		template->tuple = NULL;
	else
		((IndexTuple) template->tuple)->t_info = template->length;
}

/* Returns whether a value goes into a tuple as it is, without being detoasted or compressed. */
static bool
is_plain_value(Form_pg_attribute att, Datum value)
{
	struct varlena *varlena = (struct varlena *) DatumGetPointer(value);

	if (att->attlen != -1)
		return true;
	if (VARATT_IS_EXTERNAL(varlena))
		return false;
	return VARATT_IS_EXTENDED(varlena) || VARSIZE(varlena) <= TOAST_INDEX_TARGET ||
		(att->attstorage != TYPSTORAGE_EXTENDED && att->attstorage != TYPSTORAGE_MAIN);
}

/* Has index_form_tuple() make the tuple, and stores it. */
static bool
put_formed(GpuSort *sort, const Datum *values, const bool *isnull, GpuSortStoredRow *row)
{
	MemoryContext old = MemoryContextSwitchTo(sort->scratch);
	IndexTuple	tuple = index_form_tuple(sort->desc, (Datum *) values, (bool *) isnull);
	Size		size = IndexTupleSize(tuple);
	bool		stored = gpusort_row_store_reserve(sort, size, &row->offset);

	if (stored)
		memcpy(sort->rows.places.base + row->offset, tuple, size);
	MemoryContextSwitchTo(old);
	MemoryContextReset(sort->scratch);
	return stored;
}

/* Forms a tuple in the row store, of values that need no preparation. */
static bool
put_plain(GpuSort *sort, const Datum *values, const bool *isnull, bool has_nulls,
		  GpuSortStoredRow *row)
{
	uint16		info = has_nulls ? INDEX_NULL_MASK : 0;
	Size		header = IndexInfoFindDataOffset(info);
	Size		data_size = heap_compute_data_size(sort->desc, (Datum *) values, (bool *) isnull);
	Size		size = MAXALIGN(header + data_size);
	uint16		heap_info;
	IndexTuple	tuple;

	if (size > INDEX_SIZE_MASK)
		return put_formed(sort, values, isnull, row);
	if (!gpusort_row_store_reserve(sort, size, &row->offset))
		return false;
	tuple = (IndexTuple) (sort->rows.places.base + row->offset);
	memset(tuple, 0, size);
	heap_fill_tuple(sort->desc, (Datum *) values, (bool *) isnull, (char *) tuple + header,
					data_size, &heap_info,
					has_nulls ? (uint8 *) tuple + sizeof(IndexTupleData) : NULL);
	if ((heap_info & HEAP_HASVARWIDTH) != 0)
		info |= INDEX_VAR_MASK;
	tuple->t_info = info | size;
	return true;
}

bool
gpusort_row_store_put_index(GpuSort *sort, const Datum *values, const bool *isnull, ItemPointer tid,
							GpuSortStoredRow *row)
{
	int			natts = sort->desc->natts;
	bool		has_nulls = false;
	bool		plain = true;
	bool		stored;
	IndexTuple	tuple;

	for (int i = 0; i < natts; i++)
	{
		has_nulls |= isnull[i];
		plain = plain &&
			(isnull[i] || is_plain_value(TupleDescAttr(sort->desc, i), values[i]));
	}
	if (sort->rows.template.tuple != NULL && !has_nulls)
		stored = gpusort_row_store_put_fixed(sort, values, row);
	else if (plain)
		stored = put_plain(sort, values, isnull, has_nulls, row);
	else
		stored = put_formed(sort, values, isnull, row);
	if (!stored)
		return false;

	tuple = (IndexTuple) (sort->rows.places.base + row->offset);
	tuple->t_tid = *tid;
	row->source = NULL;
	if (sort->keys.any_bytes)
		stored_row_is_source(&sort->rows, row, IndexTupleSize(tuple));
	return true;
}

/* ---------- dead rows: their mark in index tuples ---------- */

void
gpusort_unmark_dead(GpuSort *sort)
{
	if (!sort->index.any_dead)
		return;
	for (uint64 id = 0; id < sort->rows.count; id++)
	{
		IndexTuple	tuple = gpusort_row_at(&sort->rows.places, (uint32) id);

		if (id % GPUSORT_INTERRUPT_ROWS == 0)
			CHECK_FOR_INTERRUPTS();
		gpusort_unmark_tuple(tuple);
	}
	sort->index.any_dead = false;
}
