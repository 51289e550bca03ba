/*
 * sort_move_out.h
 *		Moving a result that nobody reads now to temporary files.
 *
 * Public: other folders include it.
 */
#ifndef GPUSORT_SORT_MOVE_OUT_H
#define GPUSORT_SORT_MOVE_OUT_H

#include "sort/sort.h"

/*
 * Returns whether the rows of a sort that was performed should be moved to files, and can be: other
 * sessions lack memory of the pool while this one has more than its even part.
 */
extern bool gpusort_should_move_out(const GpuSort *sort);

/*
 * Move the rows to files.  Rows keep their positions, but pointers to them become invalid.  Raises
 * the errors that writing temporary files raises.
 */
extern void gpusort_move_out(GpuSort *sort);

#endif							/* GPUSORT_SORT_MOVE_OUT_H */
