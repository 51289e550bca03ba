/*
 * load_progress.h
 *		What pg_stat_progress_copy, and errors, show of a COPY FROM.
 */
#ifndef GPUSORT_LOAD_PROGRESS_H
#define GPUSORT_LOAD_PROGRESS_H

#include "commands/copyfrom_internal.h"
#include "commands/progress.h"
#include "pgstat.h"
#include "utils/backend_progress.h"

#include "load/load_state.h"

/*
 * Shows the counts of the state, and those of "more" unless it is NULL.  An error from now on is
 * about the line behind these.  The rows are counted as inserted at once, and not at the end,
 * because the statistics have to know them if the transaction aborts, too.
 */
static inline void
gpusort_load_show_progress(GpuSortLoadState *state, const GpuSortLoadCounts *more)
{
	GpuSortLoadCounts counts = state->counts;

	if (more != NULL)
		gpusort_load_add_counts(&counts, more);
	state->copy->cur_lineno = counts.lines + 1;
	/* gpusort_parts_end() counts the rows of partitions */
	if (!state->task->partitioned)
		pgstat_count_heap_insert(state->statement->table, counts.rows - state->counted);
	state->counted = counts.rows;
	pgstat_progress_update_param(PROGRESS_COPY_BYTES_PROCESSED, state->source.bytes);
	pgstat_progress_update_param(PROGRESS_COPY_TUPLES_PROCESSED, counts.rows);
	if (counts.excluded > 0)
		pgstat_progress_update_param(PROGRESS_COPY_TUPLES_EXCLUDED, counts.excluded);
}

#endif							/* GPUSORT_LOAD_PROGRESS_H */
