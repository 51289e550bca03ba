/*
 * load_task.h
 *		What all participants of a COPY FROM must know.
 *
 * A task has no pointers, so that it can lie in shared memory.
 */
#ifndef GPUSORT_LOAD_TASK_H
#define GPUSORT_LOAD_TASK_H

#include "access/attnum.h"

#include "heap/heap_append.h"
#include "parse/gs_dialect.h"

/* The input is cut into chunks of this many bytes; longer records are left to PostgreSQL. */
#define GPUSORT_LOAD_CHUNK_BYTES	((Size) 1024 * 1024)

/* Markers of nulls and defaults that do not fit into this many bytes are left to PostgreSQL. */
#define GPUSORT_LOAD_NULL_BYTES		64

/* A field of each record. */
typedef struct GpuSortLoadField
{
	AttrNumber	attnum;
	bool		force_null;		/* a quoted null marker is a null, too */
	bool		force_not_null; /* a null marker without quotes is not a null */
} GpuSortLoadField;

typedef struct GpuSortLoadTask
{
	Oid			table;
	bool		partitioned;	/* rows go to partitions of the table */
	GpuSortAppendOwner owner;
	bool		indexed;		/* the table or some partition has indexes, so lines are noted */
	int			encoding;		/* of the input */
	Oid			conversion;		/* the function that converts the input, or InvalidOid */
	gs_dialect	dialect;
	int			null_length;
	char		null_print[GPUSORT_LOAD_NULL_BYTES];
	int			default_length; /* 0: there is no marker for defaults */
	char		default_print[GPUSORT_LOAD_NULL_BYTES];
	bool		computing;		/* there are values or conditions to be computed */
	bool		sequences;		/* a default calls nextval(), in the order of the rows */
	Size		bytes;			/* of the whole task */
	Size		where;			/* offset of WHERE's conditions, as a string; 0: none */
	int			nfields;
	GpuSortLoadField fields[FLEXIBLE_ARRAY_MEMBER];
} GpuSortLoadTask;

#endif							/* GPUSORT_LOAD_TASK_H */
