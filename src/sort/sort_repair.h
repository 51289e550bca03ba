/*
 * sort_repair.h
 *		Putting rows in order that a verification finds in wrong places.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_SORT_REPAIR_H
#define GPUSORT_SORT_REPAIR_H

#include "sort/verifier.h"

/*
 * Check the rows from position `from` up to `to`, and behind rows that were moved the
 * next one, and put them in their places.  False if the order can't be confirmed.
 */
extern bool gpusort_check_and_repair(GpuSort *sort, GpuSortVerifier *v, uint64 from, uint64 to);

#endif							/* GPUSORT_SORT_REPAIR_H */
