/*
 * range_extents.h
 *		The part of a range that consists of pool extents; for memory_range.c.
 */
#ifndef GPUSORT_RANGE_EXTENTS_H
#define GPUSORT_RANGE_EXTENTS_H

#include "memory/memory_range.h"

/* Takes extents for the first `bytes` bytes, as far as pool and account allow. */
extern void gpusort_extents_take(GpuSortRange *range, size_t bytes);

/*
 * Maps the owned extents up to byte `to` and sees to it that there is memory behind
 * them, and behind more of them where that costs nothing; returns how many bytes of
 * the range have memory.  Extents that the system has no memory for are given back.
 */
extern size_t gpusort_extents_populate(GpuSortRange *range, size_t to);

/* Gives the range's extents from .. to - 1 back, or leaves them to the job range->left_to. */
extern void gpusort_extents_give(GpuSortRange *range, uint32 from, uint32 to);

#endif							/* GPUSORT_RANGE_EXTENTS_H */
