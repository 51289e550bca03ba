/*
 * load_columns.h
 *		What becomes of the fields of a record: the columns of a table that is loaded.
 */
#ifndef GPUSORT_LOAD_COLUMNS_H
#define GPUSORT_LOAD_COLUMNS_H

#include "access/tupdesc.h"
#include "fmgr.h"

#include "load/load_scalars.h"
#include "load/load_task.h"
#include "load/load_value.h"

typedef struct GpuSortLoadColumn
{
	GpuSortLoadField field;
	bool		is_text;		/* the bytes are the value */
	uint32		max_bytes;		/* ... if they are not more */
	bool		checks_null;	/* the function of a domain */
	GpuSortScalarReader reader; /* or NULL; who does not know all spellings */
	FmgrInfo	function;
	Oid			ioparam;
	int32		typmod;
	char	   *room;			/* for the reader */
} GpuSortLoadColumn;

/* The columns of a task.  In the current context. */
extern GpuSortLoadColumn *gpusort_load_columns(const GpuSortLoadTask *task, TupleDesc desc);

/* How a table's values lie in its tuples. */
typedef struct GpuSortLoadAttribute
{
	int16		length;
	uint8		align;			/* in bytes */
	bool		by_value;
	bool		may_be_short;	/* a varlena whose header may be one byte */
} GpuSortLoadAttribute;

extern GpuSortLoadAttribute *gpusort_load_attributes(TupleDesc desc);

#endif							/* GPUSORT_LOAD_COLUMNS_H */
