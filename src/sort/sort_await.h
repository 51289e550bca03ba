/*
 * sort_await.h
 *		Waiting for what gpusortd has yet to do for a sort that has been performed.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_SORT_AWAIT_H
#define GPUSORT_SORT_AWAIT_H

#include "sort/sort.h"

/*
 * Wait until the first `rows` positions are ready, and find out how many rows gpusortd has brought
 * into sorted order.  With gpusort.reorder_rows = on, also wait until the first `rows` have been.
 */
extern void gpusort_await_rows(GpuSort *sort, uint64 rows);

/* Wait until all positions are ready, and until gpusortd will bring no more rows into order. */
extern void gpusort_await_all(GpuSort *sort);

#endif							/* GPUSORT_SORT_AWAIT_H */
