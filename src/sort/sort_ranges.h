/*
 * sort_ranges.h
 *		The ranges of memory that a sort lives in.
 *
 * The rows, the row references, each word of each sort column (a plane), and the engine's workspace
 * have a range each (memory_range.h).  Each range has address space for all that the sort may take,
 * so that any of them can grow.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_SORT_RANGES_H
#define GPUSORT_SORT_RANGES_H

#include "memory/memory_range.h"
#include "sort/sort.h"

/* Returns a range that can grow up to the sort's limit, or NULL if there is no address space. */
extern GpuSortRange *gpusort_acquire_range(GpuSort *sort, int role);

/*
 * Acquire the ranges that the sort needs by its spec and by what was asked of it (sort_ranges.c
 * says which these are), as far as it does not have them.  gpusort_acquire_ranges() returns false
 * if there is no address space; gpusort_need_ranges() reports that as an error.
 */
extern bool gpusort_acquire_ranges(GpuSort *sort);
extern void gpusort_need_ranges(GpuSort *sort);

/* Release the ranges that a sort does not need before it has rows.  The sort must have no rows. */
extern void gpusort_release_unneeded(GpuSort *sort);

/*
 * Leave the extents of all ranges to the owner of a shared sort, who gives them back when no
 * process can have them mapped any more.
 */
extern void gpusort_leave_ranges(GpuSort *sort);

/* Release all ranges, except those of rows that were set aside and may still be put again. */
extern void gpusort_release_ranges(GpuSort *sort);

/* Release the ranges of rows that were set aside; of rows in sorted order; of a merge. */
extern void gpusort_release_aside(GpuSort *sort);
extern void gpusort_release_reordered(GpuSort *sort);
extern void gpusort_release_merge(GpuSort *sort);

/* Begin again with empty ranges. */
extern void gpusort_rewind_ranges(GpuSort *sort);

/*
 * Give back the memory of all ranges but those of the rows and of the references to them.  These
 * ranges can't grow until they are rewound.
 */
extern void gpusort_discard_planes(GpuSort *sort);

/* Called with a range and the bytes of it that so many rows take; returns false to stop. */
typedef bool (*GpuSortRangeVisitor) (GpuSortRange **range, size_t bytes, void *arg);

/*
 * Visit the ranges that have something for each row while rows come in; the ranges that are needed
 * when all rows are in; or both, and the row store.  Each returns false if the visitor did.
 */
extern bool gpusort_visit_planes(GpuSort *sort, uint64 rows, GpuSortRangeVisitor visit,
								 void *arg);
extern bool gpusort_visit_workspace(GpuSort *sort, uint64 rows, GpuSortRangeVisitor visit,
									void *arg);
extern bool gpusort_visit_ranges(GpuSort *sort, uint64 rows, GpuSortRangeVisitor visit,
								 void *arg);

/* Returns where the sort keeps its pointer to the range of a role, which may be NULL. */
extern GpuSortRange **gpusort_range_of_role(GpuSort *sort, int role);

/* Returns how many ranges the sort has now. */
extern size_t gpusort_count_ranges(GpuSort *sort);

/* Returns the length in bytes of a bitmap of so many rows. */
extern size_t gpusort_bitmap_bytes(uint64 rows);

#endif							/* GPUSORT_SORT_RANGES_H */
