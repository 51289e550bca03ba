/*
 * sort_service.h
 *		Having a sort done by gpusortd.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_SORT_SERVICE_H
#define GPUSORT_SORT_SERVICE_H

#include "sort/sort_state.h"

/* While rows come in: what has arrived may be worth telling gpusortd. */
extern void gpusort_service_feed(GpuSort *sort);

/*
 * Have gpusortd sort; false if it does not.  all_at_once: every row must be in
 * place when this returns, else some of them may become ready later.
 */
extern bool gpusort_service_sort(GpuSort *sort, bool all_at_once);

/* Wait until the first `rows` positions are ready. */
extern void gpusort_service_await(GpuSort *sort, uint64 rows);

/* Find out how many positions are ready, of a sort with a job. */
extern void gpusort_service_look(GpuSort *sort);

/* A sort that was performed, has a job, and lives in the context or below; NULL: none. */
extern GpuSort *gpusort_service_find(MemoryContext context);

/*
 * Have no job any more.  gpusortd may still hold on to some ranges: then they must
 * not be written to again, but be released, and gpusort_service_abandon() called.
 */
extern void gpusort_service_end(GpuSort *sort);
extern bool gpusort_service_holds_memory(const GpuSort *sort);
extern void gpusort_service_abandon(GpuSort *sort);

/* ---------- parts of it, for sort_merged.c ---------- */

/*
 * Are so many rows to be sorted by gpusortd?  Not if others take portions of the sort: they lean
 * on the extents of the shared sort, all of which are given back if gpusortd keeps some.
 */
extern bool gpusort_service_is_wanted(const GpuSort *sort, uint64 rows);

/* Fill the planes of a job, in the order of gpusort_choose_planes(). */
extern unsigned gpusort_list_planes(const GpuSortKeys *keys, GpuSortJobPlane *planes);

/* Have an open job of the sort's; NULL, or why there is none. */
extern const char *gpusort_service_open(GpuSort *sort, unsigned nplanes, uint64 expected);

/* Leave the sort to the host engine.  failed: gpusortd had begun to. */
extern void gpusort_service_fall_back(GpuSort *sort, const char *why, bool failed);

/* What gpusortd says about a sort that it has done. */
extern void gpusort_note_result(GpuSort *sort, const gsd_result *result);

#endif							/* GPUSORT_SORT_SERVICE_H */
