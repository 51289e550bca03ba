/*
 * range_extents.h
 *		The part of a range that consists of pool extents; for memory_range.c.
 */
#ifndef GPUSORT_RANGE_EXTENTS_H
#define GPUSORT_RANGE_EXTENTS_H

#include "memory/memory_range.h"

/* Own extents for the first `bytes` bytes, as far as pool and account allow. */
extern void gpusort_extents_take(GpuSortRange *range, size_t bytes);

/*
 * Have memory behind the owned extents up to `to`, and more where that costs
 * nothing; returns how far there is some.  Extents that the system has no memory
 * for are given back.
 */
extern size_t gpusort_extents_populate(GpuSortRange *range, size_t to);

/* Give the extents [from, to) of the range back, or leave them to its job. */
extern void gpusort_extents_give(GpuSortRange *range, uint32 from, uint32 to);

#endif							/* GPUSORT_RANGE_EXTENTS_H */
