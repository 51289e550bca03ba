/*
 * sort_move_out.h
 *		A result that nobody reads now, out to temporary files.
 *
 * Public: other folders include it.
 */
#ifndef GPUSORT_SORT_MOVE_OUT_H
#define GPUSORT_SORT_MOVE_OUT_H

#include "sort/sort.h"

/*
 * Do other sessions lack memory of the pool while this one has more than its even part, and could
 * the rows of this sort, which was performed, lie in files instead?
 */
extern bool gpusort_should_move_out(const GpuSort *sort);

/*
 * Do that.  Rows keep their positions; pointers of them are gone.  What it raises is what
 * writing temporary files raises.
 */
extern void gpusort_move_out(GpuSort *sort);

#endif							/* GPUSORT_SORT_MOVE_OUT_H */
