/*
 * index_build_private.h
 *		Conducting an index build: whether, with how many workers, what it shows.
 */
#ifndef GPUSORT_INDEX_BUILD_PRIVATE_H
#define GPUSORT_INDEX_BUILD_PRIVATE_H

#include "storage/block.h"

#include "btree/btree.h"
#include "engine/gs_engine.h"
#include "sort/sort.h"
#include "sort/sort_view.h"

/* ---------- eligible: whether an index is built here ---------- */

/*
 * Returns whether gpusort can build the index, the table is large enough to be worth it, and its
 * tuples are expected to fit into limit_bytes of private memory and the pool.  If so, fills *spec,
 * including the number of rows expected; if not, sets *reason to a constant string.
 */
extern bool gpusort_index_is_eligible(const GpuSortIndexTarget *target, size_t limit_bytes,
									  GpuSortSpec *spec, const char **reason);

/* ---------- workers: how many an index build gets ---------- */

/*
 * Returns how many workers the build should have.  The server plans no more workers than leave each
 * participant, the leader included, 32 MB of maintenance_work_mem.  Since the pool holds most rows
 * here, what is free of it counts as well.
 */
extern int	gpusort_index_workers(const GpuSortIndexTarget *target);

/* ---------- unique: checks that the keys of a unique index are unique ---------- */

typedef struct GpuSortUniqueCheck
{
	const GpuSortIndexTarget *target;

	/* the group of equal rows at the end of the last view, which may go on in the next one */
	/* the group has a null in a key column, so its rows don't violate the constraint */
	bool		exempt;
	bool		has_live;		/* one of the group's rows is alive, and `live` has it */
	IndexTuple	live;			/* copy of a live row */
} GpuSortUniqueCheck;

/* Begin a check.  Its memory comes from the current context. */
extern void gpusort_index_unique_begin(GpuSortUniqueCheck *check, const GpuSortIndexTarget *target);

/*
 * Check the rows of a view of this process's sort, if the index is unique.  After that nobody needs
 * to know which rows are dead, so their marks are removed from the tuples.
 */
extern void gpusort_index_unique_judge(GpuSortUniqueCheck *check, GpuSort *sort,
									   const GpuSortView *view,
									   gs_progress *progress);

/* ---------- progress: what pg_stat_progress_create_index shows ---------- */

/* Begin a phase of btree builds (PROGRESS_BTREE_PHASE_*), with none of its `rows` done. */
extern void gpusort_progress_phase(int64 phase, int64 rows);

/* Report how many pages of the table all processes together have read. */
extern void gpusort_progress_pages(BlockNumber done, BlockNumber total);

/* Report how many of the phase's tuples are done. */
extern void gpusort_progress_tuples(int64 done);

/*
 * Begin `progress`, for a phase that has just begun with so many rows.  Raising it raises the count
 * of tuples done in the progress view.  Returns `progress`, or NULL if nobody would see it.
 */
extern gs_progress *gpusort_progress_rows(gs_progress *progress, int64 rows);

/* Clear the progress before btbuild(), which begins from the start. */
extern void gpusort_progress_reset(void);

#endif							/* GPUSORT_INDEX_BUILD_PRIVATE_H */
