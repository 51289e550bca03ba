/*
 * memory_at_hand.h
 *		What rows take of memory, and how much of it there is for them.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_MEMORY_AT_HAND_H
#define GPUSORT_MEMORY_AT_HAND_H

#include "sort/sort_state.h"

/* What so many rows like those that are there would take, wherever it lies. */
extern size_t gpusort_bytes_of_rows(GpuSort *sort, uint64 rows);

/* What a row takes beside its bytes in the row store. */
extern size_t gpusort_bytes_beside_row(GpuSort *sort);

/* Of the pool: what the sort, or all its parts, have for rows and may still take. */
extern size_t gpusort_pool_bytes_at_hand(const GpuSort *sort);

/* All that rows may take, if nobody else takes what is free of the pool. */
extern size_t gpusort_memory_at_hand(GpuSort *sort);

#endif							/* GPUSORT_MEMORY_AT_HAND_H */
