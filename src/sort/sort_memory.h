/*
 * sort_memory.h
 *		How much memory a sort takes, and how much more it may take.
 *
 * Two limits hold.  Extents of the pool: those that gpusort.pool_quota grants
 * to one sort, and what is free.  Private memory: work_mem * hash_mem_multiplier,
 * in an index build maintenance_work_mem.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_SORT_MEMORY_H
#define GPUSORT_SORT_MEMORY_H

#include "memory/memory_range.h"
#include "sort/sort_state.h"

/* Find out the limits, given that of private memory. */
extern void gpusort_begin_memory(GpuSort *sort, size_t limit_bytes);

/* Of so much private memory, what encoders may hold (key_codec.h). */
extern size_t gpusort_encoders_limit(size_t limit_bytes);

/* Make room for more rows in every plane; false if that exceeds the limits. */
extern bool gpusort_grow_planes(GpuSort *sort);

/* Make room for so many rows, which are there already, whatever the limits say. */
extern bool gpusort_grow_planes_to(GpuSort *sort, uint64 rows);

/*
 * Make the row store usable up to `end`, and tell in sort->rows.end how far rows
 * may go; false if they may not go so far.
 */
extern bool gpusort_grow_rows(GpuSort *sort, size_t end);

/* While rows come in, memory is set aside for what keys take that are made when they are sorted. */
extern void gpusort_set_memory_aside(GpuSort *sort, bool aside);

/* How far rows may go if the row store grows by all that it may. */
extern size_t gpusort_possible_rows_end(GpuSort *sort);

/* Recompute sort->rows.end. */
extern void gpusort_set_rows_end(GpuSort *sort);

/*
 * To be called when a key was made: do encoders hold more than they were known to?  False if
 * that is too much, given the rows that there are.  gpusort_note_encoders() finds out.
 */
extern bool gpusort_note_encoders(GpuSort *sort);

static inline bool
gpusort_encoders_fit(GpuSort *sort)
{
	return likely(gpusort_key_memory_bytes(&sort->keys.memory) + sort->memory.charged_bytes ==
				  sort->memory.beside_bytes) ||
		gpusort_note_encoders(sort);
}

/* Have encoders give back what they hold. */
extern void gpusort_forget_encoders(GpuSort *sort);

/* A bitmap with room for as many rows as the planes have; NULL if there is none. */
extern GpuSortRange *gpusort_acquire_bitmap(GpuSort *sort, int role);

/* gpusort_range_grow() for a range of the sort's, interruptible and with progress. */
extern bool gpusort_grow_in_steps(GpuSort *sort, GpuSortRange *range, size_t bytes);

/* Memory for the result, which was counted while rows came in. */
extern bool gpusort_grow_workspace(GpuSort *sort);

/* The same for the order that a refinement makes, while gpusortd reads the workspace. */
extern bool gpusort_grow_refined(GpuSort *sort);

/*
 * Raise the limit of private memory for a row that must be taken in; ERROR if there is no more.
 * And have the one again that the sort began with.
 */
extern void gpusort_raise_limit(GpuSort *sort);
extern void gpusort_restore_limit(GpuSort *sort);

/*
 * A part whose rows are written gives its memory back, and lets all parts know that each has its
 * share.
 */
extern void gpusort_share_memory(GpuSort *part);

/* Private memory that is in use. */
extern size_t gpusort_private_bytes(GpuSort *sort);

/* Put the memory in use into the statistics. */
extern void gpusort_note_memory(GpuSort *sort);

#endif							/* GPUSORT_SORT_MEMORY_H */
