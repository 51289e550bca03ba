/*
 * load_state_private.h
 *		A COPY FROM that is being carried out.
 */
#ifndef GPUSORT_LOAD_STATE_PRIVATE_H
#define GPUSORT_LOAD_STATE_PRIVATE_H

#include "commands/copyfrom_internal.h"
#include "commands/progress.h"
#include "pgstat.h"
#include "storage/block.h"
#include "utils/backend_progress.h"

#include "load/load.h"
#include "load/load_input_private.h"
#include "load/load_partitions_private.h"
#include "load/load_rows_private.h"
#include "load/load_values_private.h"

/* ---------- state ---------- */

typedef struct GpuSortLoadState
{
	const GpuSortLoadStatement *statement;
	CopyFromState copy;			/* as BeginCopyFrom() has returned it */
	GpuSortLoadTask *task;
	GpuSortLoadEncoding *encoding;
	GpuSortLoadSource source;
	struct GpuSortLoadShare *share; /* the chunks, while several processes load them; or NULL */

	char	   *buffer;			/* a chunk's size, at least */
	Size		bytes;			/* in the buffer */
	Size		begin;			/* of these bytes, not to be loaded or loaded already */
	bool		has_begun;		/* the header, if there is one, was read */

	GpuSortLoadParts *parts;	/* if one process loads a partitioned table; or NULL */
	int			nparts;			/* partitions that parts need room for */
	GpuSortLoadLeaves leaves;	/* the tables that have indexes */

	GpuSortLoadCounts counts;	/* of what was loaded; lines include those before the rows */
	uint64		counted;		/* rows that the statistics know as inserted */
	uint64		first_line;		/* lines before the first row */
	GpuSortLoadLines lines;		/* of what was loaded, if there are indexes */
} GpuSortLoadState;

/* ---------- reading the input ---------- */

/*
 * Reads up to "bytes" bytes of the input, and returns how many were read, as gpusort_source_read()
 * does.
 */
extern Size gpusort_load_read(GpuSortLoadState *state, char *to, Size bytes);

/* ---------- what pg_stat_progress_copy, and errors, show of it ---------- */

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
	/* gpusort_load_parts_end() counts the rows of partitions */
	if (!state->task->partitioned)
		pgstat_count_heap_insert(state->statement->table, counts.rows - state->counted);
	state->counted = counts.rows;
	pgstat_progress_update_param(PROGRESS_COPY_BYTES_PROCESSED, state->source.bytes);
	pgstat_progress_update_param(PROGRESS_COPY_TUPLES_PROCESSED, counts.rows);
	if (counts.excluded > 0)
		pgstat_progress_update_param(PROGRESS_COPY_TUPLES_EXCLUDED, counts.excluded);
}

/* ---------- loading by the leader and parallel workers ---------- */

/* Returns how many workers could take part in a load of so many chunks. */
extern int	gpusort_load_workers(const GpuSortLoadState *state, uint64 chunks);

/*
 * Loads all that can be loaded, by the leader and up to "nworkers" workers.  What can't be loaded
 * is in the buffer then, which may have been replaced by a longer one, and in the source.  Returns
 * false if no workers were to be had, and nothing was done.
 */
extern bool gpusort_load_together(GpuSortLoadState *state, int nworkers);

#endif							/* GPUSORT_LOAD_STATE_PRIVATE_H */
