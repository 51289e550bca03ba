/*
 * load_columns.c
 *		The columns of a table that is loaded; see load_columns.h.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/uuid.h"

#include "load/load_columns.h"

/* Functions that depend on nothing but their arguments and settings, or look up an enum's labels. */
static const Oid known_functions[] = {
	F_BOOLIN, F_BYTEAIN, F_CHARIN, F_NAMEIN, F_INT2IN, F_INT4IN, F_INT8IN, F_TEXTIN, F_VARCHARIN,
	F_BPCHARIN, F_OIDIN, F_TIDIN, F_JSON_IN, F_JSONB_IN, F_POINT_IN, F_LSEG_IN, F_PATH_IN, F_BOX_IN,
	F_POLY_IN, F_LINE_IN, F_CIRCLE_IN, F_FLOAT4IN, F_FLOAT8IN, F_DATE_IN, F_TIME_IN, F_TIMETZ_IN,
	F_TIMESTAMP_IN, F_TIMESTAMPTZ_IN, F_INTERVAL_IN, F_BIT_IN, F_VARBIT_IN, F_NUMERIC_IN, F_UUID_IN,
	F_INET_IN, F_CIDR_IN, F_MACADDR_IN, F_MACADDR8_IN, F_CASH_IN, F_TSVECTORIN, F_TSQUERYIN, F_PG_LSN_IN,
	F_ENUM_IN
};

static bool
function_is_known(Oid function)
{
	for (int i = 0; i < lengthof(known_functions); i++)
	{
		if (known_functions[i] == function)
			return func_parallel(function) == PROPARALLEL_SAFE;
	}
	return false;
}

bool
gpusort_load_type_is_known(Oid type)
{
	Oid			function;
	Oid			ioparam;

	getTypeInputInfo(type, &function, &ioparam);
	if (function == F_ARRAY_IN)
		return gpusort_load_type_is_known(get_element_type(type));
	if (function == F_RANGE_IN)
		return gpusort_load_type_is_known(get_range_subtype(type));
	return function_is_known(function);
}

static bool
function_keeps_bytes(Oid function)
{
	return function == F_TEXTIN || function == F_VARCHARIN || function == F_BPCHARIN || function == F_JSON_IN;
}

bool
gpusort_load_type_keeps_bytes(Oid type)
{
	Oid			function;
	Oid			ioparam;

	getTypeInputInfo(type, &function, &ioparam);
	return function_keeps_bytes(function);
}

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
	column->loses_lines = !function_keeps_bytes(function);
	column->reader = gpusort_scalar_reader(function, att->atttypmod);
	column->room = palloc(UUID_LEN);
}

GpuSortLoadColumn *
gpusort_load_columns(const GpuSortLoadTask *task, TupleDesc desc)
{
	const gs_dialect *dialect = &task->dialect;
	GpuSortLoadColumn *columns = palloc0(task->nfields * sizeof(GpuSortLoadColumn));

	for (int i = 0; i < task->nfields; i++)
	{
		fill_column(&columns[i], &task->fields[i], desc);
		columns[i].loses_lines &= task->indexed && dialect->csv;
	}
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
