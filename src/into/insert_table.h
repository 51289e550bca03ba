/*
 * insert_table.h
 *		Tables that an INSERT may fill by whole pages.
 */
#ifndef GPUSORT_INSERT_TABLE_H
#define GPUSORT_INSERT_TABLE_H

#include "nodes/execnodes.h"

#include "into/into_target.h"

/*
 * Fill in what the target of an INSERT is, with columns that are computed from those of the result, or
 * NIL; false: rows have to be inserted one by one.
 */
extern bool gpusort_insert_target(ResultRelInfo *insert, List *columns, GpuSortIntoTarget *target);

#endif							/* GPUSORT_INSERT_TABLE_H */
