/*
 * extents_private.h
 *		Extents behind ranges, and private memory that processes keep.
 */
#ifndef GPUSORT_EXTENTS_PRIVATE_H
#define GPUSORT_EXTENTS_PRIVATE_H

#include "memory/memory_range.h"

/* ---------- pages of memory behind an extent that is mapped ---------- */

/*
 * Sees to it that there is memory behind the bytes [from, to) of an extent that is owned and mapped
 * at `start`; the bytes below `from` have memory already.  Populates the whole extent where that
 * costs no more, which gpusort_extent_is_populated() then tells.  Returns false if the system has
 * no memory.
 */
extern bool gpusort_extent_populate(uint32 extent, char *start, size_t from, size_t to);

/* Returns whether there is memory behind all of an extent. */
extern bool gpusort_extent_is_populated(uint32 extent);

/* ---------- the part of a range that consists of pool extents; for memory_range.c ---------- */

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

/* ---------- private memory that all processes keep for their next sorts ---------- */

/* Setting: the most memory that all processes may keep together, in kB. */
extern int	gpusort_keep_memory_total;

/* Returns the setting's default, in kB. */
extern int	gpusort_default_keep_memory_total(void);

#endif							/* GPUSORT_EXTENTS_PRIVATE_H */
