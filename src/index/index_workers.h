/*
 * index_workers.h
 *		How many workers an index build gets.
 */
#ifndef GPUSORT_INDEX_WORKERS_H
#define GPUSORT_INDEX_WORKERS_H

#include "btree/btree_target.h"

/*
 * The server plans no more workers than maintenance_work_mem has 32 MB for, each, and the session.
 * Where the pool pays for rows, its memory counts as well.
 */
extern int	gpusort_index_workers(const GpuSortIndexTarget *target);

#endif							/* GPUSORT_INDEX_WORKERS_H */
