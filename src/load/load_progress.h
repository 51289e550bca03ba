/*
 * load_progress.h
 *		What pg_stat_progress_copy shows of a COPY FROM.
 */
#ifndef GPUSORT_LOAD_PROGRESS_H
#define GPUSORT_LOAD_PROGRESS_H

#include "commands/progress.h"
#include "pgstat.h"
#include "utils/backend_progress.h"

#include "load/load_state.h"

/* Some rows more than those of the state.  They are counted as inserted, which is to be known of an abort, too. */
static inline void
gpusort_load_show_progress(GpuSortLoadState *state, uint64 rows)
{
	pgstat_count_heap_insert(state->statement->table, state->rows + rows - state->counted);
	state->counted = state->rows + rows;
	pgstat_progress_update_param(PROGRESS_COPY_BYTES_PROCESSED, state->source.bytes);
	pgstat_progress_update_param(PROGRESS_COPY_TUPLES_PROCESSED, state->rows + rows);
}

#endif							/* GPUSORT_LOAD_PROGRESS_H */
