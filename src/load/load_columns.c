/*
 * load_columns.c
 *		The columns of a table that is loaded; see load_columns.h.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/uuid.h"

#include "load/load_columns.h"

static void
fill_column(GpuSortLoadColumn *column, const GpuSortLoadField *field, TupleDesc desc)
{
	Form_pg_attribute att = TupleDescAttr(desc, field->attnum - 1);
	Oid			function;

	column->field = *field;
	column->typmod = att->atttypmod;
	getTypeInputInfo(att->atttypid, &function, &column->ioparam);
	fmgr_info(function, &column->function);
	column->is_text = function == F_TEXTIN || function == F_VARCHARIN;
	column->max_bytes = function == F_VARCHARIN && att->atttypmod >= VARHDRSZ
		? att->atttypmod - VARHDRSZ : MaxAllocSize;
	column->checks_null = function == F_DOMAIN_IN;
	column->reader = gpusort_scalar_reader(function, att->atttypmod);
	column->room = palloc(UUID_LEN);
}

GpuSortLoadColumn *
gpusort_load_columns(const GpuSortLoadTask *task, TupleDesc desc)
{
	GpuSortLoadColumn *columns = palloc0(task->nfields * sizeof(GpuSortLoadColumn));

	for (int i = 0; i < task->nfields; i++)
		fill_column(&columns[i], &task->fields[i], desc);
	return columns;
}

static uint8
alignment_bytes(char align)
{
	switch (align)
	{
		case TYPALIGN_DOUBLE:
			return ALIGNOF_DOUBLE;
		case TYPALIGN_INT:
			return ALIGNOF_INT;
		case TYPALIGN_SHORT:
			return ALIGNOF_SHORT;
		default:
			return 1;
	}
}

GpuSortLoadAttribute *
gpusort_load_attributes(TupleDesc desc)
{
	GpuSortLoadAttribute *attributes = palloc(desc->natts * sizeof(GpuSortLoadAttribute));

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		attributes[i] = (GpuSortLoadAttribute) {
			.length = att->attlen,
			.align = alignment_bytes(att->attalign),
			.by_value = att->attbyval,
			.may_be_short = att->attlen == -1 && att->attstorage != TYPSTORAGE_PLAIN
		};
	}
	return attributes;
}
