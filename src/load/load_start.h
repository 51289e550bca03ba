/*
 * load_start.h
 *		The beginning of an input: how its records end, and its header.
 */
#ifndef GPUSORT_LOAD_START_H
#define GPUSORT_LOAD_START_H

#include "access/tupdesc.h"

#include "load/load_encoding.h"
#include "load/load_rows.h"

/* A header may have this many records; longer ones are left to PostgreSQL. */
#define GPUSORT_LOAD_HEADER_RECORDS	100

/* What comes before the rows. */
typedef struct GpuSortLoadHeader
{
	int			records;
	TupleDesc	columns;		/* whose names the first record must have, or NULL */
} GpuSortLoadHeader;

/*
 * Looks at the beginning of an input.  Sets the newline of the task, and, in *input, "consumed" and
 * the counted lines to what lies before the rows and is not to be loaded.  Returns false if
 * PostgreSQL has to look at the beginning.
 */
extern bool gpusort_load_start(GpuSortLoadTask *task, GpuSortLoadEncoding *encoding,
							   const GpuSortLoadHeader *header, GpuSortLoadInput *input);

#endif							/* GPUSORT_LOAD_START_H */
