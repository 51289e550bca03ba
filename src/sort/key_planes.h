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
 * Fills in keys->planes and keys->nplanes with the planes that the engine is to sort these rows by,
 * and sets keys->refine_column to the column whose strings go on behind the last plane, or to -1.
 * A column has three planes at most.
 */
extern void gpusort_choose_planes(GpuSortKeys *keys, const GpuSortRows *rows);

/*
 * Restores prefix planes that gpusort_choose_planes() has changed, for a sort that the engine has
 * failed to do.
 */
extern void gpusort_restore_planes(GpuSortKeys *keys, const GpuSortRows *rows);

/*
 * Returns whether the column's prefix plane is final: gpusort_choose_planes() will not change the
 * words that it has, whatever rows still come.
 */
extern bool gpusort_prefix_is_final(const GpuSortColumn *column);

#endif							/* GPUSORT_KEY_PLANES_H */
