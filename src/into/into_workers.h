/*
 * into_workers.h
 *		Having a sorted result put into a table, by parallel workers if there are any.
 */
#ifndef GPUSORT_INTO_WORKERS_H
#define GPUSORT_INTO_WORKERS_H

#include "exec/exec_sort.h"
#include "into/into_target.h"

/* Returns whether the rows are too few to be worth being put by whole pages. */
extern bool gpusort_into_are_few(const GpuSortReturned *rows);

/* Puts the rows into a table: behind the rows that it has, or as its first blocks. */
extern void gpusort_into_write(const GpuSortIntoTarget *target, const GpuSortReturned *rows);

#endif							/* GPUSORT_INTO_WORKERS_H */
