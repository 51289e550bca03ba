/*
 * sort_watch.h
 *		What other sessions see of a sort while it runs (stats/stats.h).
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_SORT_WATCH_H
#define GPUSORT_SORT_WATCH_H

#include "sort/sort_state.h"

/*
 * Show the sort, which is going to have rows put into it, for the first or another time; or, with
 * gpusort_watch_end(), show it no more.
 */
extern void gpusort_watch_begin(GpuSort *sort);
extern void gpusort_watch_end(GpuSort *sort);

/* Show that the sort has come to a phase.  Returns the phase that it leaves. */
extern GpuSortPhase gpusort_watch_enter(GpuSort *sort, GpuSortPhase phase);

/* Show that the sort's memory or its temporary files have grown. */
extern void gpusort_watch_memory(GpuSort *sort);

/*
 * Show how many rows the sort has by now.  This is cheap enough to be called for every page of
 * input.
 */
static inline void
gpusort_watch_rows(GpuSort *sort)
{
	if (sort->activity == NULL)
		return;
	sort->activity->rows = (int64) sort->stats.rows;
	sort->activity->bytes = (int64) (sort->key_rows.used
									 ? sort->rows.count * sort->keys.ncolumns * sizeof(uint64)
									 : sort->rows.used);
}

#endif							/* GPUSORT_SORT_WATCH_H */
