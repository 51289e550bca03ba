/*
 * load_target.c
 *		Where rows go; see load_target.h.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/heaptoast.h"
#include "catalog/catalog.h"

#include "load/load_target.h"
#include "pg_compat/copy.h"
#include "pg_compat/tables.h"

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
gpusort_target_begin(GpuSortLoadTarget *target, Relation table)
{
	TupleDesc	desc = RelationGetDescr(table);

	memset(target, 0, sizeof(*target));
	target->table = table;
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

static inline HeapTupleHeader
get_room(const GpuSortLoadTarget *target, uint32 length)
{
	return target->append != NULL ? gpusort_append_tuple(target->append, length)
		: gpusort_bucket_tuple(target->buckets, target->bucket, length);
}

void
gpusort_target_put(const GpuSortLoadTarget *target, const GpuSortLoadValue *values,
				   const GpuSortTupleSize *size)
{
	gpusort_tuple_fill(target->attributes, values, target->natts, size,
					   get_room(target, size->total));
}

/*
 * Returns the options with which the toaster inserts what it puts out of line; these are the
 * options that the server's COPY uses for the table that was named.
 */
static int
toast_options(const GpuSortLoadTarget *target, HeapTupleHeader header)
{
	int			options = HeapTupleHeaderXminFrozen(header) ? HEAP_INSERT_FROZEN : 0;

	if (target->append != NULL && gpusort_relation_is_new(target->table))
		options |= HEAP_INSERT_SKIP_FSM;
	return options;
}

bool
gpusort_target_put_toasted(const GpuSortLoadTarget *target, const GpuSortLoadValue *values,
						   const GpuSortTupleSize *size)
{
	HeapTupleHeader header = target->append != NULL ? &target->append->header
		: gpusort_bucket_header(target->bucket);
	HeapTupleData tuple = {.t_len = size->total,.t_tableOid = RelationGetRelid(target->table)};
	HeapTuple	toasted;

	tuple.t_data = palloc0(size->total);
	memcpy(tuple.t_data, header, SizeofHeapTupleHeader);
	gpusort_tuple_fill(target->attributes, values, target->natts, size, tuple.t_data);
	toasted =
		heap_toast_insert_or_update(target->table, &tuple, NULL, toast_options(target, header));
	if (MAXALIGN(toasted->t_len) > MaxHeapTupleSize)
		return false;
	memcpy(get_room(target, toasted->t_len), toasted->t_data, toasted->t_len);
	return true;
}
