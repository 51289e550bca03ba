/*
 * exec_late.h
 *		Fetching the rows of a GpuSort from their table when they are returned.
 */
#ifndef GPUSORT_EXEC_LATE_H
#define GPUSORT_EXEC_LATE_H

#include "nodes/execnodes.h"

#include "exec/exec_cursor.h"

typedef struct GpuSortLate GpuSortLate;

/*
 * Begins to fetch rows late for a GpuSort node, whose child has been initialized.  From now on the
 * node returns rows of the table that `table_scan`, a scan below it, reads.  Memory is taken from
 * `context`.
 */
extern GpuSortLate *gpusort_begin_late(CustomScanState *css, const ScanState *table_scan,
									   MemoryContext context);

/*
 * Returns a slot with the next row in the direction of the scan; the slot is empty if there is
 * none.
 */
extern TupleTableSlot *gpusort_fetch_late(GpuSortLate *late, GpuSortCursor *cursor, bool forward);

/* Returns an empty slot, and drops all references to rows and pages. */
extern TupleTableSlot *gpusort_clear_late(GpuSortLate *late);

/* Forgets the rows looked at in advance, since the sort is going to have other rows. */
extern void gpusort_reset_late(GpuSortLate *late);

#endif							/* GPUSORT_EXEC_LATE_H */
