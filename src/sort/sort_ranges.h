/*
 * sort_ranges.h
 *		The ranges of memory that a sort lives in.
 *
 * Rows, row references, a plane for each word of each sort column, and the engine's
 * workspace are a range each (memory_range.h).  Each has address space for all that the
 * sort may take, so that whichever grows can.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_SORT_RANGES_H
#define GPUSORT_SORT_RANGES_H

#include "memory/memory_range.h"
#include "sort/sort.h"

/* A range that can grow to the limit; NULL if there is no address space. */
extern GpuSortRange *gpusort_acquire_range(GpuSort *sort, int role);

/*
 * Have the ranges that the sort needs by its spec and by what was asked of it (sort_ranges.c says
 * which these are), as far as they are not there; false if there is no address space.  The other
 * one reports that as an error.
 */
extern bool gpusort_acquire_ranges(GpuSort *sort);
extern void gpusort_need_ranges(GpuSort *sort);

/* Release those that a sort does not need before it has rows: it has none. */
extern void gpusort_release_unneeded(GpuSort *sort);

/*
 * Leave the extents of all ranges to the owner of a shared sort, who gives them back when nobody can
 * have them mapped any more.
 */
extern void gpusort_leave_ranges(GpuSort *sort);

/* Release all ranges but those of rows that were set aside, which may be being put again. */
extern void gpusort_release_ranges(GpuSort *sort);

/* What was set aside; rows in order; what a merge took. */
extern void gpusort_release_aside(GpuSort *sort);
extern void gpusort_release_reordered(GpuSort *sort);
extern void gpusort_release_merge(GpuSort *sort);

/* Begin again with empty ranges. */
extern void gpusort_rewind_ranges(GpuSort *sort);

/* Give back the memory of all but the rows and what points to them, until rewound. */
extern void gpusort_discard_planes(GpuSort *sort);

/* Called with a range and the bytes that so many rows take of it; false: stop. */
typedef bool (*GpuSortRangeVisitor) (GpuSortRange **range, size_t bytes, void *arg);

/*
 * Visit what has something for each row while rows come in; what is needed when all
 * rows are in; both, and the rows.
 */
extern bool gpusort_visit_planes(GpuSort *sort, uint64 rows, GpuSortRangeVisitor visit,
								 void *arg);
extern bool gpusort_visit_workspace(GpuSort *sort, uint64 rows, GpuSortRangeVisitor visit,
									void *arg);
extern bool gpusort_visit_ranges(GpuSort *sort, uint64 rows, GpuSortRangeVisitor visit,
								 void *arg);

/* Where the sort has, or would have, the range of a role. */
extern GpuSortRange **gpusort_range_of_role(GpuSort *sort, int role);

/* How many ranges there are. */
extern size_t gpusort_count_ranges(GpuSort *sort);

/* Bytes of a bitmap of so many rows. */
extern size_t gpusort_bitmap_bytes(uint64 rows);

#endif							/* GPUSORT_SORT_RANGES_H */
