/*
 * load_columns.h
 *		The columns of a table that is loaded: how fields become values, and how values lie in
 *		tuples.
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
	bool		is_text;		/* the field's bytes are the value, no function is called */
	uint32		max_bytes;		/* longer fields go to the function even so */
	bool		checks_null;	/* the function is that of a domain, and is called for NULLs, too */
	GpuSortScalarReader reader; /* knows the usual spellings; or NULL */
	FmgrInfo	function;
	Oid			ioparam;
	int32		typmod;
	char	   *room;			/* where the reader puts a value that is passed by reference */
} GpuSortLoadColumn;

/* Returns the columns that a task's fields are copied to, allocated in the current context. */
extern GpuSortLoadColumn *gpusort_load_columns(const GpuSortLoadTask *task, TupleDesc desc);

/* How the values of a column lie in a table's tuples. */
typedef struct GpuSortLoadAttribute
{
	int16		length;
	uint8		align;			/* in bytes */
	bool		by_value;
	bool		may_be_short;	/* a varlena that may have a header of one byte */
} GpuSortLoadAttribute;

/* Returns how the values of each column lie, allocated in the current context. */
extern GpuSortLoadAttribute *gpusort_load_attributes(TupleDesc desc);

#endif							/* GPUSORT_LOAD_COLUMNS_H */
