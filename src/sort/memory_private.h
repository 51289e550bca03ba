/*
 * memory_private.h
 *		The memory of a sort: its limits, its ranges, and what is for rows and what for runs.
 */
#ifndef GPUSORT_MEMORY_PRIVATE_H
#define GPUSORT_MEMORY_PRIVATE_H

#include "port/atomics.h"

#include "memory/memory_range.h"
#include "memory/pool.h"
#include "sort/sort.h"

/* ---------- how much memory a sort takes, and how much more it may take ---------- */

/*
 * There are two limits.  Of the pool, a sort may have as many extents as gpusort.pool_quota grants
 * to one sort, if they are free.  Of private memory, it may have work_mem * hash_mem_multiplier, or
 * in an index build, or CLUSTER, maintenance_work_mem.
 */

/* How much memory a sort may have (sort_memory.c). */
typedef struct GpuSortMemory
{
	size_t		limit_bytes;	/* limit of private memory */
	/* the limit that the sort began with; a single large row may raise it */
	size_t		first_limit_bytes;
	/*
	 * private memory that neither rows nor planes take: what encoders were seen to hold, and
	 * charged_bytes
	 */
	size_t		other_private_bytes;
	/* what the sort's owner takes of private memory (gpusort_charge()) */
	size_t		charged_bytes;
	size_t		encoders_bytes; /* what encoders will be let hold whatever rows take */
	/* bytes of the row store that rows leave to keys which are made when rows are sorted */
	size_t		spare_bytes;
	GpuSortPoolAccount pool_account;
	size_t		reserve_bytes;	/* address space that each range reserves */
	uint64		capacity;		/* number of rows that the planes have room for */
	uint64		expected_rows;	/* rows that there will be, if that is known, else 0 */

	/* if not all rows fit (spill_plan.c) */
	double		planned_rows;	/* the planner's estimate of the rows of all participants */
	/* memory for rows before they become a run; 0: memory is not divided */
	size_t		buffer_bytes;
	size_t		keep_bytes;		/* memory for runs that stay in memory */
	/* extents of the pool that hold runs of this sort, or of this part */
	uint32		kept_extents;

	/* rows that the planes of all parts have room for; NULL: this sort is no part */
	pg_atomic_uint64 *claimed_rows;
	/* of a part: not 0 if each part may have no more than its share */
	pg_atomic_uint32 *shares_enforced;
	uint32		shared_extents; /* extents of which a part has its share */
	/* of a part that was refused memory: how often it will be refused without asking for any */
	uint32		refusals;
	pg_atomic_uint32 *shares;	/* processes that divide the memory; NULL: this one has it alone */
} GpuSortMemory;

/* Returns how many processes divide the memory to collect rows or to load portions. */
static inline uint32
gpusort_shares(const GpuSortMemory *memory)
{
	return memory->shares != NULL ? pg_atomic_read_u32(memory->shares) : 1;
}

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
 * Called when encoders hold another number of bytes than they were last known to
 * (gpusort_encoders_fit()).  Returns false if that is too much, given the rows that there are.
 */
extern bool gpusort_note_encoders(GpuSort *sort);

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

/* ---------- the ranges of memory that a sort lives in ---------- */

/*
 * The rows, the row references, each word of each sort column (a plane), and the engine's workspace
 * have a range each (memory_range.h).  Each range has address space for all that the sort may take,
 * so that any of them can grow.
 */

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
extern GpuSortRange **gpusort_sort_range_of_role(GpuSort *sort, int role);

/* Returns how many ranges the sort has now. */
extern size_t gpusort_count_ranges(GpuSort *sort);

/* Returns the length in bytes of a bitmap of so many rows. */
extern size_t gpusort_bitmap_bytes(uint64 rows);

/* ---------- how much memory rows take, and how much there is for them ---------- */

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
extern size_t gpusort_memory_pool_bytes_at_hand(const GpuSort *sort);

/*
 * Returns the bytes that rows may take in all, in the pool and in private memory, if no other
 * process takes what is free of the pool now.
 */
extern size_t gpusort_memory_at_hand(GpuSort *sort);

/* ---------- how a sort that is going to spill divides its memory of the pool ---------- */

/*
 * Rows that come in need keys, and room to be put in order; in a run they don't.  So if not all
 * rows of a sort will fit, rows are collected in a small part of the memory, the buffer, and runs
 * stay in the rest; runs that do not fit there go to temporary files.  A sort that is only somewhat
 * larger than memory writes nothing.
 *
 * The buffer is as large as it takes for long stretches when the runs are read back: a portion,
 * which takes as much memory as the buffer, has one stretch of each run.
 */

/*
 * Divide the memory, before there is room for `rows` rows, if that is better than going on.  This
 * is decided as late as possible, since there may be fewer rows than expected: when half of the
 * memory is taken.  The rows in it then fit as a run into the other half.
 */
extern void gpusort_spill_plan(GpuSort *sort, uint64 rows);

/* Divide the memory when all of it is taken, although all rows were expected to fit. */
extern void gpusort_spill_plan_late(GpuSort *sort);

/*
 * Returns whether `rows` rows, of which the row store takes row_bytes, would be more than the
 * buffer holds.
 */
extern bool gpusort_exceeds_buffer(GpuSort *sort, uint64 rows, size_t row_bytes);

#endif							/* GPUSORT_MEMORY_PRIVATE_H */
