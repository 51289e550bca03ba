/*
 * index_progress.h
 *		Reports an index build to pg_stat_progress_create_index.
 */
#ifndef GPUSORT_INDEX_PROGRESS_H
#define GPUSORT_INDEX_PROGRESS_H

#include "storage/block.h"

#include "engine/gs_progress.h"

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

#endif							/* GPUSORT_INDEX_PROGRESS_H */
