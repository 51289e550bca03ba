/*
 * portion_crew.h
 *		Processes that load portions of a spilled sort ahead of the one that reads it.
 *
 * The rows of a shared sort (sort_parts.h) that has spilled come back portion by portion, each
 * of which is read and sorted.  A crew of parallel workers does that side by side: each takes the
 * next portion, loads it into extents of the pool, which are the shared sort's, and publishes a view
 * of it (sort_view.h).  The leader maps the portions in order (gpusort_fetch_window()), and lets
 * the worker have the next one when it has read one.  While it would have to wait, it loads
 * one as well.
 *
 *	leader			gpusort_perform(), gpusort_portion_workers(), gpusort_crew_begin()
 *	workers			gpusort_crew_parts(), gpusort_parts_begin_part(), gpusort_crew_load(),
 *					gpusort_end()
 *	leader			gpusort_fetch_window() ..., gpusort_crew_stop(); the workers end
 *
 * The sort is the same without a crew, or with one that comes late, is lost or has stopped: then
 * the leader loads portions as they are wanted.
 *
 * Public: other folders include it.
 */
#ifndef GPUSORT_PORTION_CREW_H
#define GPUSORT_PORTION_CREW_H

#include "sort/portion_share.h"

/* In dynamic shared memory. */
typedef struct GpuSortPortionCrew GpuSortPortionCrew;

extern Size gpusort_crew_bytes(int workers);

/* Before workers can see it. */
extern void gpusort_crew_init(GpuSortPortionCrew *crew, int workers);

/*
 * By the leader: have workers load the sort's portions, and take them from there; false if there is
 * no memory for that.
 */
extern bool gpusort_crew_begin(GpuSortPortionCrew *crew, GpuSort *sort);

/*
 * By the leader: no more portions are wanted, and the crew's memory is about to go.  Workers that
 * are not through with one yet end a little later.
 */
extern void gpusort_crew_stop(GpuSort *sort);

#endif							/* GPUSORT_PORTION_CREW_H */
