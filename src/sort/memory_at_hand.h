/*
 * memory_at_hand.h
 *		How much memory rows take, and how much there is for them.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_MEMORY_AT_HAND_H
#define GPUSORT_MEMORY_AT_HAND_H

#include "sort/sort_state.h"

/*
 * Returns the bytes that `rows` rows would take, in the pool or elsewhere, if they are as long on
 * average as the rows that the sort has.  Planes and workspace are included.
 */
extern size_t gpusort_bytes_of_rows(GpuSort *sort, uint64 rows);

/* Returns the bytes that a row takes in planes and workspace, beside its bytes in the row store. */
extern size_t gpusort_bytes_beside_row(GpuSort *sort);

/*
 * Returns the bytes of the pool that the sort, or all parts of a shared sort, have for rows and may
 * still take.
 */
extern size_t gpusort_pool_bytes_at_hand(const GpuSort *sort);

/*
 * Returns the bytes that rows may take in all, in the pool and in private memory, if no other
 * process takes what is free of the pool now.
 */
extern size_t gpusort_memory_at_hand(GpuSort *sort);

#endif							/* GPUSORT_MEMORY_AT_HAND_H */
