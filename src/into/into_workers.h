/*
 * into_workers.h
 *		Having a sorted result put into a new table, by parallel workers if there are any.
 */
#ifndef GPUSORT_INTO_WORKERS_H
#define GPUSORT_INTO_WORKERS_H

#include "exec/exec_sort.h"
#include "into/into_pages.h"

/* Put the rows into a table without blocks. */
extern void gpusort_into_write(Relation table, const GpuSortIntoHeader *header,
							   const GpuSortReturned *rows);

#endif							/* GPUSORT_INTO_WORKERS_H */
