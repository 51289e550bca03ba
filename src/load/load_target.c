/*
 * load_target.c
 *		Making a heap tuple of values, and where rows go; see load_values_private.h.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/heaptoast.h"
#include "access/tupmacs.h"
#include "catalog/catalog.h"

#include "load/load_values_private.h"
#include "pg_compat/copy.h"
#include "pg_compat/tables.h"

/* ---------- a tuple: the size ---------- */

static inline bool
text_is_short(const GpuSortLoadAttribute *attribute, uint32 length)
{
	return attribute->may_be_short && length + VARHDRSZ_SHORT <= VARATT_SHORT_MAX;
}

static inline Size
add_text(const GpuSortLoadAttribute *attribute, uint32 length, Size size)
{
	if (text_is_short(attribute, length))
		return size + VARHDRSZ_SHORT + length;
	return TYPEALIGN(attribute->align, size) + VARHDRSZ + length;
}

static Size
add_varlena(const GpuSortLoadAttribute *attribute, const char *value, Size size)
{
	if (attribute->may_be_short && VARATT_CAN_MAKE_SHORT(value))
		return size + VARATT_CONVERTED_SHORT_SIZE(value);
	if (!VARATT_IS_SHORT(value))
		size = TYPEALIGN(attribute->align, size);
	return size + VARSIZE_ANY(value);
}

void
gpusort_tuple_measure(const GpuSortLoadAttribute *attributes, const GpuSortLoadValue *values,
					  int natts, GpuSortTupleSize *size)
{
	Size		data = 0;
	bool		has_null = false;

	for (int i = 0; i < natts; i++)
	{
		const GpuSortLoadAttribute *attribute = &attributes[i];
		const GpuSortLoadValue *value = &values[i];

		if (value->is_null)
			has_null = true;
		else if (value->text != NULL)
			data = add_text(attribute, value->length, data);
		else if (attribute->length > 0)
			data = TYPEALIGN(attribute->align, data) + attribute->length;
		else if (attribute->length == -1)
			data = add_varlena(attribute, DatumGetPointer(value->datum), data);
		else
			data += strlen(DatumGetCString(value->datum)) + 1;
	}
	size->has_null = has_null;
	size->header = MAXALIGN(SizeofHeapTupleHeader + (has_null ? BITMAPLEN(natts) : 0));
	size->total = size->header + data;
}

/* ---------- a tuple: the bytes ---------- */

static inline char *
put_text(const GpuSortLoadAttribute *attribute, const GpuSortLoadValue *value, char *at)
{
	if (text_is_short(attribute, value->length))
	{
		SET_VARSIZE_SHORT(at, VARHDRSZ_SHORT + value->length);
		at += VARHDRSZ_SHORT;
	}
	else
	{
		at = (char *) TYPEALIGN(attribute->align, at);
		SET_VARSIZE(at, VARHDRSZ + value->length);
		at += VARHDRSZ;
	}
	memcpy(at, value->text, value->length);
	return at + value->length;
}

static char *
put_varlena(const GpuSortLoadAttribute *attribute, const char *value, char *at)
{
	Size		bytes = VARSIZE_ANY(value);

	if (attribute->may_be_short && VARATT_CAN_MAKE_SHORT(value))
	{
		bytes = VARATT_CONVERTED_SHORT_SIZE(value);
		SET_VARSIZE_SHORT(at, bytes);
		memcpy(at + VARHDRSZ_SHORT, VARDATA(value), bytes - VARHDRSZ_SHORT);
		return at + bytes;
	}
	if (!VARATT_IS_SHORT(value))
		at = (char *) TYPEALIGN(attribute->align, at);
	memcpy(at, value, bytes);
	return at + bytes;
}

static inline char *
put_value(const GpuSortLoadAttribute *attribute, const GpuSortLoadValue *value, char *at)
{
	if (value->text != NULL)
		return put_text(attribute, value, at);
	if (attribute->length == -1)
		return put_varlena(attribute, DatumGetPointer(value->datum), at);
	if (attribute->length > 0)
	{
		at = (char *) TYPEALIGN(attribute->align, at);
		if (attribute->by_value)
			store_att_byval(at, value->datum, attribute->length);
		else
			memcpy(at, DatumGetPointer(value->datum), attribute->length);
		return at + attribute->length;
	}
	strcpy(at, DatumGetCString(value->datum));
	return at + strlen(at) + 1;
}

/* Makes a tuple of values, where there are zeros so far. */
static void
fill_tuple(const GpuSortLoadTarget *target, const GpuSortLoadValue *values,
		   const GpuSortTupleSize *size, HeapTupleHeader tuple)
{
	const GpuSortLoadAttribute *attributes = target->attributes;
	char	   *at = (char *) tuple + size->header;

	memcpy(tuple, &target->tail->header, SizeofHeapTupleHeader);
	tuple->t_hoff = size->header;
	if (size->has_null)
		tuple->t_infomask |= HEAP_HASNULL;
	for (int i = 0; i < target->natts; i++)
	{
		if (values[i].is_null)
			continue;
		if (size->has_null)
			tuple->t_bits[i >> 3] |= 1 << (i & 7);
		if (attributes[i].length < 0)
			tuple->t_infomask |= HEAP_HASVARWIDTH;
		at = put_value(&attributes[i], &values[i], at);
	}
}

/* ---------- where it goes ---------- */

static void
find_not_null(GpuSortLoadTarget *target, TupleDesc desc)
{
	target->not_null = palloc(target->natts * sizeof(bool));
	for (int i = 0; i < target->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		target->not_null[i] = att->attnotnull && !gpusort_column_is_virtual(att);
		target->any_not_null |= target->not_null[i];
	}
}

void
gpusort_target_begin(GpuSortLoadTarget *target, GpuSortTableTail *tail)
{
	TupleDesc	desc = RelationGetDescr(tail->heap);

	memset(target, 0, sizeof(*target));
	target->tail = tail;
	target->natts = desc->natts;
	target->attributes = gpusort_load_attributes(desc);
	find_not_null(target, desc);
}

bool
gpusort_target_refuses_null(const GpuSortLoadTarget *target, const GpuSortLoadValue *values)
{
	for (int i = 0; i < target->natts && target->any_not_null; i++)
	{
		if (values[i].is_null && target->not_null[i])
			return true;
	}
	return false;
}

void
gpusort_target_put(const GpuSortLoadTarget *target, const GpuSortLoadValue *values,
				   const GpuSortTupleSize *size)
{
	fill_tuple(target, values, size, gpusort_table_room(target->tail, size->total));
}

bool
gpusort_target_put_toasted(const GpuSortLoadTarget *target, const GpuSortLoadValue *values,
						   const GpuSortTupleSize *size)
{
	fill_tuple(target, values, size, gpusort_table_toaster_room(target->tail, size->total));
	return gpusort_table_try_toast(target->tail);
}
