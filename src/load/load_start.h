/*
 * load_start.h
 *		The beginning of an input: how its records end, and its header.
 */
#ifndef GPUSORT_LOAD_START_H
#define GPUSORT_LOAD_START_H

#include "access/tupdesc.h"

#include "load/load_encoding.h"
#include "load/load_rows.h"

/* Longer headers are left to PostgreSQL. */
#define GPUSORT_LOAD_HEADER_RECORDS	100

/* What comes before the rows. */
typedef struct GpuSortLoadHeader
{
	int			records;
	TupleDesc	columns;		/* whose names it must have, or NULL */
} GpuSortLoadHeader;

/*
 * Find out from the beginning of an input.  Sets the task's newline, and "consumed" and "lines" of what is
 * not to be loaded; false: it is PostgreSQL's to look at.
 */
extern bool gpusort_load_start(GpuSortLoadTask *task, GpuSortLoadEncoding *encoding, const GpuSortLoadHeader *header,
							   GpuSortLoadInput *input);

#endif							/* GPUSORT_LOAD_START_H */
