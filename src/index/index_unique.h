/*
 * index_unique.h
 *		Checks that the keys of a unique index are unique.
 */
#ifndef GPUSORT_INDEX_UNIQUE_H
#define GPUSORT_INDEX_UNIQUE_H

#include "btree/btree.h"
#include "engine/gs_progress.h"
#include "sort/sort_view.h"

typedef struct GpuSortUniqueCheck
{
	const GpuSortIndexTarget *target;

	/* the group of equal rows at the end of the last view, which may go on in the next one */
	/* the group has a null in a key column, so its rows don't violate the constraint */
	bool		exempt;
	bool		has_live;		/* one of the group's rows is alive, and `live` has it */
	IndexTuple	live;			/* copy of a live row */
} GpuSortUniqueCheck;

/* Begin a check.  Its memory comes from the current context. */
extern void gpusort_unique_begin(GpuSortUniqueCheck *check, const GpuSortIndexTarget *target);

/*
 * Raise an error if two live rows violate the index's uniqueness, among the rows of this view of
 * the performed sort and of the views checked before it. `progress` is planned in rows; NULL if it
 * is not shown.
 */
extern void gpusort_unique_check(GpuSortUniqueCheck *check, const GpuSortView *view,
								 gs_progress *progress);

/*
 * Check the rows of a view of this process's sort, if the index is unique.  After that nobody needs
 * to know which rows are dead, so their marks are removed from the tuples.
 */
extern void gpusort_unique_judge(GpuSortUniqueCheck *check, GpuSort *sort, const GpuSortView *view,
								 gs_progress *progress);

#endif							/* GPUSORT_INDEX_UNIQUE_H */
