/*
 * index_leader.h
 *		The leader of an index build by several processes.
 *
 * Leader and workers read the table into parts of a shared sort (sort_parts.h), which the
 * leader joins when all are done.  Workers that have read all stay, to verify and to write
 * the index.  What a worker does is in index_worker.c.
 */
#ifndef GPUSORT_INDEX_LEADER_H
#define GPUSORT_INDEX_LEADER_H

#include "index/index_reader.h"
#include "index/index_slices.h"

typedef struct GpuSortIndexLeader GpuSortIndexLeader;

/*
 * Start so many workers, and let the reader, which has its target, by_pages and
 * rows.sort, read with them.  NULL if there are no workers to be had, and nothing was
 * done.  The workers stay, and this process in parallel mode, until
 * gpusort_leader_end().
 */
extern GpuSortIndexLeader *gpusort_leader_begin(GpuSortIndexReader *reader, int workers);

/*
 * The leader has read its share, of so many live rows: wait until all have, and take over
 * their rows.  Returns the number of live rows that all have read.
 */
extern double gpusort_leader_finish_reading(GpuSortIndexLeader *leader,
											GpuSortIndexReader *reader, double live);

/* How many workers there are. */
extern int	gpusort_leader_workers(const GpuSortIndexLeader *leader);

/* What to write the index with; NULL if the workers can't. */
extern const GpuSortIndexSlices *gpusort_leader_slices(const GpuSortIndexLeader *leader);

/* Let the workers end. */
extern void gpusort_leader_end(GpuSortIndexLeader *leader);

#endif							/* GPUSORT_INDEX_LEADER_H */
