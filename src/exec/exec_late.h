/*
 * exec_late.h
 *		Rows of a GpuSort that are fetched from their table when they are returned.
 */
#ifndef GPUSORT_EXEC_LATE_H
#define GPUSORT_EXEC_LATE_H

#include "nodes/execnodes.h"

#include "exec/exec_cursor.h"

typedef struct GpuSortLate GpuSortLate;

/*
 * For a node whose child has been initialised: from now on it returns rows of the table
 * that this scan below it reads.  Memory is taken from the context.
 */
extern GpuSortLate *gpusort_begin_late(CustomScanState *css, const ScanState *table_scan,
									   MemoryContext context);

/* The next row in the direction of the scan; empty if there is none. */
extern TupleTableSlot *gpusort_fetch_late(GpuSortLate *late, GpuSortCursor *cursor, bool forward);

/* Return no row, and refer to no page. */
extern TupleTableSlot *gpusort_clear_late(GpuSortLate *late);

/* The sort has other rows now. */
extern void gpusort_reset_late(GpuSortLate *late);

#endif							/* GPUSORT_EXEC_LATE_H */
