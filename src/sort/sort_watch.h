/*
 * sort_watch.h
 *		What others see of a sort while it runs (stats/activity.h).
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_SORT_WATCH_H
#define GPUSORT_SORT_WATCH_H

#include "sort/sort_state.h"

/* The sort is going to have rows put into it, for the first or another time. */
extern void gpusort_watch_begin(GpuSort *sort);
extern void gpusort_watch_end(GpuSort *sort);

/* It has come to a phase; the one that it leaves. */
extern GpuSortPhase gpusort_watch_enter(GpuSort *sort, GpuSortPhase phase);

/* Its memory or its temporary files have grown. */
extern void gpusort_watch_memory(GpuSort *sort);

/* So far it has got: cheap enough for every page of input. */
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
