/*
 * index_unique.h
 *		Are the keys of a unique index unique?
 */
#ifndef GPUSORT_INDEX_UNIQUE_H
#define GPUSORT_INDEX_UNIQUE_H

#include "btree/btree_target.h"
#include "engine/gs_progress.h"
#include "sort/sort_view.h"

typedef struct GpuSortUniqueCheck
{
	const GpuSortIndexTarget *target;

	/* the run of equal rows that was looked at last, which may go on */
	bool		exempt;			/* null in a key column */
	bool		has_live;		/* one of its rows is alive: */
	IndexTuple	live;			/* a copy */
} GpuSortUniqueCheck;

/* Memory comes from the current context. */
extern void gpusort_unique_begin(GpuSortUniqueCheck *check, const GpuSortIndexTarget *target);

/*
 * ERROR if two live rows violate the index's uniqueness, of those of the performed sort that a view
 * of it shows, and those of the views before.  The progress is planned as rows.
 */
extern void gpusort_unique_check(GpuSortUniqueCheck *check, const GpuSortView *view,
								 gs_progress *progress);

/*
 * Judge rows that a view shows of the sort, in its own process, if the index is unique; after that
 * nobody needs to know which are dead, and their tuples tell it no more.
 */
extern void gpusort_unique_judge(GpuSortUniqueCheck *check, GpuSort *sort, const GpuSortView *view,
								 gs_progress *progress);

#endif							/* GPUSORT_INDEX_UNIQUE_H */
