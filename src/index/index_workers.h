/*
 * index_workers.h
 *		Decides how many workers an index build gets.
 */
#ifndef GPUSORT_INDEX_WORKERS_H
#define GPUSORT_INDEX_WORKERS_H

#include "btree/btree.h"

/*
 * Returns how many workers the build should have.  The server plans no more workers than leave each
 * participant, the leader included, 32 MB of maintenance_work_mem.  Since the pool holds most rows
 * here, what is free of it counts as well.
 */
extern int	gpusort_index_workers(const GpuSortIndexTarget *target);

#endif							/* GPUSORT_INDEX_WORKERS_H */
