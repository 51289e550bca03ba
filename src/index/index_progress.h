/*
 * index_progress.h
 *		What pg_stat_progress_create_index shows of a build.
 */
#ifndef GPUSORT_INDEX_PROGRESS_H
#define GPUSORT_INDEX_PROGRESS_H

#include "storage/block.h"

#include "engine/gs_progress.h"

/* Begin a phase of btree builds, PROGRESS_BTREE_PHASE_*: 0 of so many rows are done. */
extern void gpusort_progress_phase(int64 phase, int64 rows);

/* Pages of the table that have been read, by all processes together. */
extern void gpusort_progress_pages(BlockNumber done, BlockNumber total);

/* Tuples of the phase that are done, of the rows that it was begun with. */
extern void gpusort_progress_tuples(int64 done);

/*
 * The progress of a phase that has just begun, which is seen as rows done while it
 * is raised.  Returns `progress`, or NULL if it would not be seen.
 */
extern gs_progress *gpusort_progress_rows(gs_progress *progress, int64 rows);

/* No phase of ours: btbuild() begins from the start. */
extern void gpusort_progress_reset(void);

#endif							/* GPUSORT_INDEX_PROGRESS_H */
