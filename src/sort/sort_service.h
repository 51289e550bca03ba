/*
 * sort_service.h
 *		Having a sort done by gpusortd.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_SORT_SERVICE_H
#define GPUSORT_SORT_SERVICE_H

#include "sort/sort.h"

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

#endif							/* GPUSORT_SORT_SERVICE_H */
