/*
 * row_store.c
 *		The tuples of a sort, end to end in one range; see rows_private.h.
 *
 * A row is stored as a MinimalTuple, which is what tuplesort and the scan slot want, and stays
 * where it is, since sorting moves row ids only.  The tuple of a slot that holds one (heap pages,
 * minimal tuples) is stored by one memcpy.  If a slot has values only, the tuple is formed in
 * place, without palloc.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/tupmacs.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "settings.h"
#include "sort/memory_private.h"
#include "sort/rows_private.h"
#include "sort/state_private.h"

/* The fault that is injected for tests (gpusort.inject_fault) strikes at this row. */
#define FAULT_ROW 100

/* The memory of rows that have been read is given back in pieces of this many bytes. */
#define DISCARD_BYTES	((size_t) 8 << 20)

void
gpusort_empty_rows(GpuSortRows *rows)
{
	GpuSortRowPlaces *places = &rows->places;

	rows->used = 0;
	rows->count = 0;
	places->uniform = true;
	places->stride = 0;
	places->granule_rows = 0;
	if (places->granule_offsets != NULL)
		pfree(places->granule_offsets);
	places->granule_offsets = NULL;
}

bool
gpusort_row_store_reserve(GpuSort *sort, size_t bytes, size_t *offset)
{
	size_t		start = TYPEALIGN(sort->rows.places.unit, sort->rows.used);
	size_t		end = start + bytes;

	if (unlikely(end > sort->rows.end) && !gpusort_grow_rows(sort, end))
		return false;
	if (unlikely(gpusort_inject_fault == GPUSORT_FAULT_MEMORY && sort->rows.count >= FAULT_ROW))
		return false;
	sort->rows.used = end;
	*offset = start;
	return true;
}

/* Stores a MinimalTuple of len bytes, whose fields from t_infomask2 on are given by `body`. */
static bool
put_tuple(GpuSort *sort, const char *body, uint32 len, GpuSortStoredRow *row)
{
	MinimalTuple tuple;

	if (!gpusort_row_store_reserve(sort, len, &row->offset))
		return false;
	tuple = (MinimalTuple) (sort->rows.places.base + row->offset);
	memcpy(tuple, body, len);
	tuple->t_len = len;
	row->source = body;
	row->source_len = len;
	row->copy = (char *) tuple;
	return true;
}

void
gpusort_make_template(GpuSortTemplate *template, TupleDesc desc, size_t header)
{
	size_t		offset = 0;

	if (desc->natts > MaxTupleAttributeNumber)
		return;
	template->offsets = palloc(desc->natts * sizeof(uint32));
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		if (att->attlen <= 0)
			return;
		offset = att_align_nominal(offset, att->attalign);
		template->offsets[i] = header + offset;
		offset += att->attlen;
	}
	template->length = header + offset;
	template->tuple = palloc0(MAXALIGN(template->length));
}

void
gpusort_make_minimal_template(GpuSortTemplate *template, TupleDesc desc)
{
	size_t		header = MAXALIGN(SizeofMinimalTupleHeader);
	MinimalTuple tuple;

	gpusort_make_template(template, desc, header);
	if (template->tuple == NULL)
		return;
	tuple = (MinimalTuple) template->tuple;
	tuple->t_len = template->length;
	HeapTupleHeaderSetNatts(tuple, desc->natts);
	tuple->t_hoff = header + MINIMAL_TUPLE_OFFSET;
}

bool
gpusort_row_store_put_fixed(GpuSort *sort, const Datum *values, GpuSortStoredRow *row)
{
	TupleDesc	desc = sort->desc;
	char	   *tuple;

	if (!gpusort_row_store_reserve(sort, sort->rows.template.length, &row->offset))
		return false;
	tuple = sort->rows.places.base + row->offset;
	memcpy(tuple, sort->rows.template.tuple, sort->rows.template.length);
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);
		char	   *place = tuple + sort->rows.template.offsets[i];

		if (att->attbyval)
			store_att_byval(place, values[i], att->attlen);
		else
			memcpy(place, DatumGetPointer(values[i]), att->attlen);
	}
	row->source = NULL;
	return true;
}

/* Forms a tuple of the slot's first values, as many as the sort's rows have, and stores it. */
static bool
put_values(GpuSort *sort, TupleTableSlot *slot, GpuSortStoredRow *row)
{
	TupleDesc	desc = sort->desc;
	int			natts = desc->natts;
	Size		header = SizeofMinimalTupleHeader;
	Size		data_len;
	MinimalTuple tuple;
	bool		has_nulls = false;

	/* tuplesort reports this error */
	if (natts > MaxTupleAttributeNumber)
		return false;
	for (int i = 0; i < natts; i++)
		has_nulls |= slot->tts_isnull[i];
	if (sort->rows.template.tuple != NULL && !has_nulls)
		return gpusort_row_store_put_fixed(sort, slot->tts_values, row);
	if (has_nulls)
		header += BITMAPLEN(natts);
	header = MAXALIGN(header);
	data_len = heap_compute_data_size(desc, slot->tts_values, slot->tts_isnull);
	if (unlikely(header + data_len > MaxAllocSize))
		return false;
	if (!gpusort_row_store_reserve(sort, header + data_len, &row->offset))
		return false;

	tuple = (MinimalTuple) (sort->rows.places.base + row->offset);
	memset(tuple, 0, header + data_len);
	tuple->t_len = header + data_len;
	HeapTupleHeaderSetNatts(tuple, natts);
	tuple->t_hoff = header + MINIMAL_TUPLE_OFFSET;
	heap_fill_tuple(desc, slot->tts_values, slot->tts_isnull, (char *) tuple + header,
					data_len, &tuple->t_infomask, has_nulls ? tuple->t_bits : NULL);
	row->source = NULL;
	row->source_len = 0;
	row->copy = NULL;
	return true;
}

bool
gpusort_row_store_put_tuple(GpuSort *sort, HeapTuple tuple, GpuSortStoredRow *row)
{
	return put_tuple(sort, (const char *) tuple->t_data + MINIMAL_TUPLE_OFFSET,
					 tuple->t_len - MINIMAL_TUPLE_OFFSET, row);
}

bool
gpusort_row_store_put(GpuSort *sort, TupleTableSlot *slot, GpuSortStoredRow *row)
{
	if (TTS_IS_BUFFERTUPLE(slot) || TTS_IS_HEAPTUPLE(slot))
	{
		HeapTuple	tuple = ((HeapTupleTableSlot *) slot)->tuple;

		/* a heap slot may hold nothing but values so far */
		if (tuple != NULL)
			return gpusort_row_store_put_tuple(sort, tuple, row);
	}
	else if (TTS_IS_MINIMALTUPLE(slot))
	{
		MinimalTuple tuple = ((MinimalTupleTableSlot *) slot)->mintuple;

		if (tuple != NULL)
			return put_tuple(sort, (const char *) tuple, tuple->t_len, row);
	}
	else if (!TTS_IS_VIRTUAL(slot))
	{
		/* a table access method's own kind of slot */
		bool		should_free;
		MinimalTuple tuple = ExecFetchSlotMinimalTuple(slot, &should_free);
		bool		stored = put_tuple(sort, (const char *) tuple, tuple->t_len, row);

		if (should_free)
			pfree(tuple);
		row->source = NULL;
		return stored;
	}
	slot_getallattrs(slot);
	return put_values(sort, slot, row);
}

void
gpusort_discard_read_rows(GpuSortRows *rows, size_t *discarded, const void *next)
{
	size_t		offset = (const char *) next - rows->places.base;

	if (offset - *discarded < DISCARD_BYTES)
		return;
	CHECK_FOR_INTERRUPTS();
	gpusort_range_discard(rows->store, *discarded, offset);
	*discarded = offset / DISCARD_BYTES * DISCARD_BYTES;
}
