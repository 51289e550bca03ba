/*
 * sort_repair.h
 *		Repairing an order in which the verification finds rows in wrong places.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_SORT_REPAIR_H
#define GPUSORT_SORT_REPAIR_H

#include "sort/verifier.h"

/*
 * Check the rows from position `from` up to `to`, each against the row before, and move rows that
 * are wrong to their places.  The row behind rows that were moved is checked, too.  Returns false
 * if the order can't be confirmed.
 */
extern bool gpusort_check_and_repair(GpuSort *sort, GpuSortVerifier *v, uint64 from, uint64 to);

#endif							/* GPUSORT_SORT_REPAIR_H */
