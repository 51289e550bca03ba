/*
 * index_collect.h
 *		The ways of reading the table of an index build.
 */
#ifndef GPUSORT_INDEX_COLLECT_H
#define GPUSORT_INDEX_COLLECT_H

#include "access/tableam.h"

#include "index/index_build.h"

/* Takes a row in, unless the build has failed; rows that are dead don't count for
 * uniqueness. */
extern void gpusort_index_put(GpuSortIndexBuild *build, const Datum *values, const bool *isnull,
							  ItemPointer tid, bool alive);

/* The same, for table_index_build_scan(); state is the build. */
extern void gpusort_index_put_row(Relation index, ItemPointer tid, Datum *values,
								  bool *isnull, bool alive, void *state);

/* index_pages.c: can the table be read page by page? */
extern bool gpusort_index_can_read_pages(const GpuSortIndexBuild *build);

/*
 * Read it, or this process's share; returns the number of live rows.  `progress`
 * is for who reports to pg_stat_progress_create_index.
 */
extern double gpusort_index_read_pages(GpuSortIndexBuild *build, bool progress);

#endif							/* GPUSORT_INDEX_COLLECT_H */
