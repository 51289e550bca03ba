/*
 * index_build.h
 *		Builds a btree index: scans the table, sorts, checks uniqueness, writes.
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
	int64		given_up;		/* builds begun here and then left to PostgreSQL */
	int64		left;			/* builds left to PostgreSQL from the start */
	int64		workers;		/* workers that took part in the builds begun here */
	int64		slices;			/* slices of the indexes that several processes have written */
} GpuSortIndexCounters;

extern GpuSortIndexCounters gpusort_index_counters;

/*
 * The ambuild function of btree indexes: builds the index here or, where gpusort does not take the
 * build, calls btbuild().
 */
extern IndexBuildResult *gpusort_build_index(Relation heap, Relation index,
											 IndexInfo *info);

#endif							/* GPUSORT_INDEX_BUILD_H */
