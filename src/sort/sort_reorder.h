/*
 * sort_reorder.h
 *		Having gpusortd bring rows into sorted order.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_SORT_REORDER_H
#define GPUSORT_SORT_REORDER_H

#include "sort/sort.h"

/*
 * Returns whether a sort can use the copy although its rows are refined, so that a running job may
 * go on copying while they are.  The copy then has all rows where gpusortd has put them, and those
 * that tied are found by pointer.
 */
extern bool gpusort_reorder_outlasts_refinement(const GpuSort *sort);

/*
 * Returns, before there are rows, whether a GPU is likely to bring as many rows as are expected
 * into sorted order.  Reading those costs less than making rows of their keys, which are looked up
 * by row id.
 */
extern bool gpusort_reorder_is_likely(const GpuSort *sort);

/*
 * Let gpusortd have the rows that it may reorder, while rows come in.  The sort must have an open
 * job.
 */
extern void gpusort_reorder_feed(GpuSort *sort);

/*
 * Have rows reordered when they have been sorted, if that pays and there is room.  To be called
 * before the job is run.
 */
extern void gpusort_reorder_begin(GpuSort *sort);

#endif							/* GPUSORT_SORT_REORDER_H */
