/*
 * sort_order.h
 *		Putting the rows in memory in order: the engine, then the refinement.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_SORT_ORDER_H
#define GPUSORT_SORT_ORDER_H

#include "sort/sort.h"

/*
 * Find the order of all rows, which is not verified yet.  Returns false if there is no memory for
 * it, or if a value turned out to have no encoding.  Afterwards the words of keys are not what they
 * were, so no row can be put behind these.  with_service: gpusortd may sort, and then some of the
 * order may become known later (sort_await.h).
 */
extern bool gpusort_order_rows(GpuSort *sort, bool with_service);

#endif							/* GPUSORT_SORT_ORDER_H */
