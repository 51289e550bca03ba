/*
 * index_build.h
 *		Building a btree index: scan, sort, check, write.
 */
#ifndef GPUSORT_INDEX_BUILD_H
#define GPUSORT_INDEX_BUILD_H

#include "access/genam.h"
#include "nodes/execnodes.h"
#include "utils/relcache.h"

/* What became of the index builds that this session was asked for. */
typedef struct GpuSortIndexCounters
{
	int64		built;
	int64		given_up;		/* begun, and then left to PostgreSQL */
	int64		left;			/* to PostgreSQL, from the start */
	int64		workers;		/* that took part in what was begun */
	int64		slices;			/* of indexes that several processes have written */
} GpuSortIndexCounters;

extern GpuSortIndexCounters gpusort_index_counters;

/* The ambuild of btree indexes: ours or, where that is not for us, btbuild(). */
extern IndexBuildResult *gpusort_build_index(Relation heap, Relation index,
											 IndexInfo *info);

#endif							/* GPUSORT_INDEX_BUILD_H */
