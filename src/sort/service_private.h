/*
 * service_private.h
 *		Having a sort done by gpusortd.
 */
#ifndef GPUSORT_SERVICE_PRIVATE_H
#define GPUSORT_SERVICE_PRIVATE_H

#include "sort/sort.h"
#include "sort/state_private.h"

/* ---------- the job of a sort ---------- */

/* Let gpusortd have, while rows come in, what is final of them, if that is worth it. */
extern void gpusort_sort_service_feed(GpuSort *sort);

/*
 * Have gpusortd sort.  Returns false if it does not.  all_at_once: the whole order must be there
 * when this returns; else some rows may become ready later.
 */
extern bool gpusort_sort_service_sort(GpuSort *sort, bool all_at_once);

/*
 * Returns a sort that was performed, has a job, and lives in the context or below it; NULL if there
 * is none.
 */
extern GpuSort *gpusort_sort_service_find(MemoryContext context);

/*
 * End the sort's job.  Afterwards gpusort_sort_service_holds_memory() tells whether gpusortd may
 * still hold on to some ranges.  If so they must not be written to again, but be released, and
 * gpusort_sort_service_abandon() must be called then.
 */
extern void gpusort_sort_service_end(GpuSort *sort);
extern bool gpusort_sort_service_holds_memory(const GpuSort *sort);
extern void gpusort_sort_service_abandon(GpuSort *sort);

/* ---------- parts of it, for sort_merged.c ---------- */

/*
 * Returns whether so many rows are to be sorted by gpusortd.  They are not if other processes take
 * portions of the sort: these depend on the extents of the shared sort, all of which are given back
 * if gpusortd keeps some.
 */
extern bool gpusort_sort_service_is_wanted(const GpuSort *sort, uint64 rows);

/*
 * Fill in the planes of a job, in the order of gpusort_choose_planes().  Returns how many there
 * are.
 */
extern unsigned gpusort_list_planes(const GpuSortKeys *keys, GpuSortJobPlane *planes);

/* Open a job for the sort.  Returns NULL, or why it can't be opened. */
extern const char *gpusort_sort_service_open(GpuSort *sort, unsigned nplanes, uint64 expected);

/* Leave the sort to the host engine.  failed: gpusortd had begun to sort. */
extern void gpusort_sort_service_fall_back(GpuSort *sort, const char *why, bool failed);

/* Put what gpusortd says about a sort that it has done into the statistics. */
extern void gpusort_note_result(GpuSort *sort, const gsd_result *result);

/* ---------- waiting for what gpusortd has yet to do for a performed sort ---------- */

/*
 * Wait until the first `rows` positions are ready, and find out how many rows gpusortd has brought
 * into sorted order.  With gpusort.reorder_rows = on, also wait until the first `rows` have been.
 */
extern void gpusort_await_rows(GpuSort *sort, uint64 rows);

/* Wait until all positions are ready, and until gpusortd will bring no more rows into order. */
extern void gpusort_await_all(GpuSort *sort);

/* ---------- having gpusortd bring rows into sorted order ---------- */

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

/* ---------- two sorts whose rows gpusortd puts in one order ---------- */

/*
 * For gpusort_perform_merged(): find the order of the rows of both sorts.  Returns false if each
 * has to be sorted by itself, which is still possible then.
 */
extern bool gpusort_merge_rows(GpuSort *const sorts[2]);

#endif							/* GPUSORT_SERVICE_PRIVATE_H */
