/*
 * sort_service.h
 *		Having a sort done by gpusortd.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_SORT_SERVICE_H
#define GPUSORT_SORT_SERVICE_H

#include "sort/sort_state.h"

/* Let gpusortd have, while rows come in, what is final of them, if that is worth it. */
extern void gpusort_service_feed(GpuSort *sort);

/*
 * Have gpusortd sort.  Returns false if it does not.  all_at_once: the whole order must be there
 * when this returns; else some rows may become ready later.
 */
extern bool gpusort_service_sort(GpuSort *sort, bool all_at_once);

/* Wait until the first `rows` positions are ready. */
extern void gpusort_service_await(GpuSort *sort, uint64 rows);

/* Find out how many positions are ready by now.  The sort must have a job. */
extern void gpusort_service_look(GpuSort *sort);

/*
 * Returns a sort that was performed, has a job, and lives in the context or below it; NULL if there
 * is none.
 */
extern GpuSort *gpusort_service_find(MemoryContext context);

/*
 * End the sort's job.  Afterwards gpusort_service_holds_memory() tells whether gpusortd may still
 * hold on to some ranges.  If so they must not be written to again, but be released, and
 * gpusort_service_abandon() must be called then.
 */
extern void gpusort_service_end(GpuSort *sort);
extern bool gpusort_service_holds_memory(const GpuSort *sort);
extern void gpusort_service_abandon(GpuSort *sort);

/* ---------- parts of it, for sort_merged.c ---------- */

/*
 * Returns whether so many rows are to be sorted by gpusortd.  They are not if other processes take
 * portions of the sort: these depend on the extents of the shared sort, all of which are given back
 * if gpusortd keeps some.
 */
extern bool gpusort_service_is_wanted(const GpuSort *sort, uint64 rows);

/*
 * Fill in the planes of a job, in the order of gpusort_choose_planes().  Returns how many there
 * are.
 */
extern unsigned gpusort_list_planes(const GpuSortKeys *keys, GpuSortJobPlane *planes);

/* Open a job for the sort.  Returns NULL, or why it can't be opened. */
extern const char *gpusort_service_open(GpuSort *sort, unsigned nplanes, uint64 expected);

/* Leave the sort to the host engine.  failed: gpusortd had begun to sort. */
extern void gpusort_service_fall_back(GpuSort *sort, const char *why, bool failed);

/* Put what gpusortd says about a sort that it has done into the statistics. */
extern void gpusort_note_result(GpuSort *sort, const gsd_result *result);

#endif							/* GPUSORT_SORT_SERVICE_H */
