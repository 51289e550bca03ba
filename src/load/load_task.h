/*
 * load_task.h
 *		What all participants of a COPY FROM must know.
 *
 * Flat, so that it can lie in shared memory.
 */
#ifndef GPUSORT_LOAD_TASK_H
#define GPUSORT_LOAD_TASK_H

#include "access/attnum.h"

#include "heap/heap_append.h"
#include "parse/gs_dialect.h"

/* The input is cut into chunks of so many bytes; longer records are left to PostgreSQL. */
#define GPUSORT_LOAD_CHUNK_BYTES	((Size) 1024 * 1024)

/* Longer markers of nulls and defaults than this are left to PostgreSQL. */
#define GPUSORT_LOAD_NULL_BYTES		64

/* A field of each record. */
typedef struct GpuSortLoadField
{
	AttrNumber	attnum;
	bool		force_null;		/* a quoted null marker is null, too */
	bool		force_not_null; /* ... and one without quotes is not */
} GpuSortLoadField;

typedef struct GpuSortLoadTask
{
	Oid			table;
	bool		partitioned;	/* rows go to partitions of it */
	GpuSortAppendOwner owner;
	bool		indexed;		/* the table, or some partition: so the lines of rows may be asked for afterwards */
	int			encoding;		/* of the input */
	Oid			conversion;		/* from it to the database's, a function; or invalid: there is none */
	gs_dialect	dialect;
	int			null_length;
	char		null_print[GPUSORT_LOAD_NULL_BYTES];
	int			default_length; /* 0: there is no marker for it */
	char		default_print[GPUSORT_LOAD_NULL_BYTES];
	bool		computing;		/* there are values or conditions to be computed */
	bool		sequences;		/* ... some in the order of the rows */
	Size		bytes;			/* of all of it */
	Size		where;			/* where the condition is, as a string; 0: there is none */
	int			nfields;
	GpuSortLoadField fields[FLEXIBLE_ARRAY_MEMBER];
} GpuSortLoadTask;

#endif							/* GPUSORT_LOAD_TASK_H */
