/*
 * exec_late.h
 *		Rows of a GpuSort that are fetched from their table when they are returned.
 */
#ifndef GPUSORT_EXEC_LATE_H
#define GPUSORT_EXEC_LATE_H

#include "plan/plan_node.h"

typedef struct GpuSortLate GpuSortLate;

/* For a node whose child has been initialised; what it returns from then on. */
extern GpuSortLate *gpusort_begin_late(GpuSortScanState *node);

/* The next row in the direction of the scan; empty if there is none. */
extern TupleTableSlot *gpusort_fetch_late(GpuSortLate *late, GpuSortCursor *cursor, bool forward);

/* Return no row, and refer to no page. */
extern TupleTableSlot *gpusort_clear_late(GpuSortLate *late);

/* The sort has other rows now. */
extern void gpusort_reset_late(GpuSortLate *late);

#endif							/* GPUSORT_EXEC_LATE_H */
