/*
 * portion_crew.h
 *		Workers that load portions of a spilled sort ahead of the process that reads it.
 *
 * The rows of a shared sort (sort_parts.h) that has spilled are read back portion by portion, and
 * each portion has to be sorted.  A crew of parallel workers does that side by side.  Each worker
 * takes the next portion, loads it into extents of the pool that belong to the shared sort, and
 * publishes a view of it (sort_view.h).  The leader maps the portions in order
 * (gpusort_fetch_window()).  When it has read one, it lets the worker have the next.  While it
 * would have to wait for a worker, it loads a portion by itself.
 *
 *	leader			gpusort_perform(), gpusort_portion_workers(), gpusort_crew_begin()
 *	workers			gpusort_crew_parts(), gpusort_parts_begin_part(), gpusort_crew_load(),
 *					gpusort_end()
 *	leader			gpusort_fetch_window() ..., gpusort_crew_stop(); the workers end
 *
 * Without a crew, or with one that comes late, is lost or has stopped, the result of the sort is
 * the same: the leader then loads portions as they are wanted.
 *
 * Public: other folders include it.
 */
#ifndef GPUSORT_PORTION_CREW_H
#define GPUSORT_PORTION_CREW_H

#include "sort/portion_share.h"

/* What the leader and the workers share, in dynamic shared memory (crew_layout.h). */
typedef struct GpuSortPortionCrew GpuSortPortionCrew;

/* Returns the bytes of a crew of this many workers. */
extern Size gpusort_crew_bytes(int workers);

/* Initializes the memory of a crew.  To be called before workers can see it. */
extern void gpusort_crew_init(GpuSortPortionCrew *crew, int workers);

/*
 * Called by the leader: lets workers load the sort's portions, and fetches rows from what they
 * load.  Returns false if there is not memory enough for that.
 */
extern bool gpusort_crew_begin(GpuSortPortionCrew *crew, GpuSort *sort);

/*
 * Called by the leader before the crew's memory goes: no more portions are wanted.  A worker that
 * is still loading a portion ends when it has done so.
 */
extern void gpusort_crew_stop(GpuSort *sort);

#endif							/* GPUSORT_PORTION_CREW_H */
