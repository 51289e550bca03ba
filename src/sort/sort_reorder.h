/*
 * sort_reorder.h
 *		Having rows brought into sorted order by gpusortd.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_SORT_REORDER_H
#define GPUSORT_SORT_REORDER_H

#include "sort/sort.h"

/*
 * Rows that are refined, in the copy, too: these are where gpusortd has put them, but for those that tied.  May that be
 * of use, and may a running job go on with it while they are refined?
 */
extern bool gpusort_reorder_outlasts_refinement(const GpuSort *sort);

/*
 * Before there are rows: is a GPU likely to have as many as are expected of them in sorted order?  Reading
 * those costs less than making rows of their keys, which are looked up in the order of rows.
 */
extern bool gpusort_reorder_is_likely(const GpuSort *sort);

/* While rows come in, with an open job: let gpusortd have rows it may reorder. */
extern void gpusort_reorder_feed(GpuSort *sort);

/* Before the job is run: have rows reordered behind the sort, if that pays and there is room. */
extern void gpusort_reorder_begin(GpuSort *sort);

#endif							/* GPUSORT_SORT_REORDER_H */
