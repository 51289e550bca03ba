/*
 * sort_memory.h
 *		How much memory a sort takes, and how much more it may take.
 *
 * There are two limits.  Of the pool, a sort may have as many extents as gpusort.pool_quota grants
 * to one sort, if they are free.  Of private memory, it may have work_mem * hash_mem_multiplier, or
 * in an index build maintenance_work_mem.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_SORT_MEMORY_H
#define GPUSORT_SORT_MEMORY_H

#include "memory/memory_range.h"
#include "sort/sort_state.h"

/* Set the limits of a sort, given that of private memory. */
extern void gpusort_begin_memory(GpuSort *sort, size_t limit_bytes);

/* Returns how much of so much private memory encoders may hold (key_codec.h). */
extern size_t gpusort_encoders_limit(size_t limit_bytes);

/* Make room for more rows in every plane.  Returns false if that would exceed the limits. */
extern bool gpusort_grow_planes(GpuSort *sort);

/*
 * Make room for `rows` rows in all, which are there already, whatever the limits say.  Returns
 * false if the system has no memory.
 */
extern bool gpusort_grow_planes_to(GpuSort *sort, uint64 rows);

/*
 * Make the row store usable up to `end`, and tell in sort->rows.end how far rows may go.  Returns
 * false if they may not go so far.
 */
extern bool gpusort_grow_rows(GpuSort *sort, size_t end);

/*
 * Set memory aside, while rows come in, for the keys that are made when they are sorted; or (aside
 * = false) let it be used for these.
 */
extern void gpusort_set_memory_aside(GpuSort *sort, bool aside);

/* Returns how far rows may go if the row store grows by all that it may. */
extern size_t gpusort_possible_rows_end(GpuSort *sort);

/* Compute sort->rows.end again. */
extern void gpusort_set_rows_end(GpuSort *sort);

/*
 * To be called when a key was made.  gpusort_encoders_fit() returns false if encoders hold too
 * much, given the rows that there are.  If they hold another number of bytes than they were last
 * known to, gpusort_note_encoders() finds that out.
 */
extern bool gpusort_note_encoders(GpuSort *sort);

static inline bool
gpusort_encoders_fit(GpuSort *sort)
{
	return likely(gpusort_key_memory_bytes(&sort->keys.memory) + sort->memory.charged_bytes ==
				  sort->memory.beside_bytes) ||
		gpusort_note_encoders(sort);
}

/* Have encoders give back the memory that they hold. */
extern void gpusort_forget_encoders(GpuSort *sort);

/* Returns a bitmap with room for as many rows as the planes have, or NULL if there is no memory. */
extern GpuSortRange *gpusort_acquire_bitmap(GpuSort *sort, int role);

/* As gpusort_range_grow(), for a range of the sort, but interruptible and with progress. */
extern bool gpusort_grow_in_steps(GpuSort *sort, GpuSortRange *range, size_t bytes);

/*
 * Get memory for the result, which was counted while rows came in.  Returns false if there is none.
 */
extern bool gpusort_grow_workspace(GpuSort *sort);

/* The same only for the order that a refinement makes while gpusortd still reads the workspace. */
extern bool gpusort_grow_refined(GpuSort *sort);

/*
 * gpusort_raise_limit() raises the limit of private memory for a row that must be taken in, and
 * reports an error if the machine has no more.  gpusort_restore_limit() sets the limit that the
 * sort began with.
 */
extern void gpusort_raise_limit(GpuSort *sort);
extern void gpusort_restore_limit(GpuSort *sort);

/*
 * Give back the memory of a part whose rows were written as a run, and let all parts know that from
 * now on each may only have its share.
 */
extern void gpusort_share_memory(GpuSort *part);

/* Returns how much private memory is in use. */
extern size_t gpusort_private_bytes(GpuSort *sort);

/* Put the memory in use into the statistics. */
extern void gpusort_note_memory(GpuSort *sort);

#endif							/* GPUSORT_SORT_MEMORY_H */
