/*
 * insert_table.h
 *		Tables that an INSERT may fill by whole pages.
 */
#ifndef GPUSORT_INSERT_TABLE_H
#define GPUSORT_INSERT_TABLE_H

#include "nodes/execnodes.h"

#include "into/into_target.h"

/*
 * Fills *target for the table of an INSERT, and returns true; returns false if rows have to be
 * inserted one by one.  "columns" computes the table's columns from those of the result, or is NIL
 * if they are the same.
 */
extern bool gpusort_insert_target(ResultRelInfo *insert, List *columns, GpuSortIntoTarget *target);

#endif							/* GPUSORT_INSERT_TABLE_H */
