/*
 * index_leader.h
 *		The leader of an index build by several processes.
 *
 * The leader and the workers read the table into parts of a shared sort (sort_parts.h), which the
 * leader joins when all of them are done.  Workers that have read their share stay, to help sort,
 * verify and write the index. index_worker.c is the workers' side.
 */
#ifndef GPUSORT_INDEX_LEADER_H
#define GPUSORT_INDEX_LEADER_H

#include "index/index_reader.h"
#include "index/index_slices.h"

typedef struct GpuSortIndexLeader GpuSortIndexLeader;

/*
 * Launch so many workers to read the table together with `reader`, whose target, by_pages and
 * rows.sort are set.  Returns NULL, with nothing done, if no worker could be started.  Otherwise
 * the workers stay, and this process stays in parallel mode, until gpusort_leader_end().
 */
extern GpuSortIndexLeader *gpusort_leader_begin(GpuSortIndexReader *reader, int workers);

/*
 * Wait until all workers have read their share, and take their rows over. `live` is the number of
 * live rows in the leader's own share.  Returns the number of live rows in all shares.
 */
extern double gpusort_leader_finish_reading(GpuSortIndexLeader *leader,
											GpuSortIndexReader *reader, double live);

/* Returns the number of workers that were launched. */
extern int	gpusort_leader_workers(const GpuSortIndexLeader *leader);

/*
 * Returns what gpusort_slices_write() and gpusort_portions_write() need; NULL if the workers can't
 * write.
 */
extern const GpuSortIndexSlices *gpusort_leader_slices(const GpuSortIndexLeader *leader);

/* Let the workers end, wait for them, and leave parallel mode. */
extern void gpusort_leader_end(GpuSortIndexLeader *leader);

#endif							/* GPUSORT_INDEX_LEADER_H */
