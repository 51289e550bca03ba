/*
 * key_planes.h
 *		Which planes the engine sorts by.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_KEY_PLANES_H
#define GPUSORT_KEY_PLANES_H

#include "sort/key_columns.h"
#include "sort/row_store.h"

/*
 * Fill planes[] of the keys (three a column at most) with what the engine is to sort these
 * rows by, and set refine_column to the column whose strings go on behind the last of them,
 * or to -1.
 */
extern void gpusort_choose_planes(GpuSortKeys *keys, const GpuSortRows *rows);

/* Have the planes be what they were while rows came in, after the engine could not sort by them. */
extern void gpusort_restore_planes(GpuSortKeys *keys, const GpuSortRows *rows);

/* Will the first words of the column's strings be sorted by as they are, whatever rows come? */
extern bool gpusort_prefix_is_final(const GpuSortColumn *column);

#endif							/* GPUSORT_KEY_PLANES_H */
