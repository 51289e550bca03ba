/*
 * crew_worker.h
 *		A worker of a crew that loads portions of a sort (portion_crew.h).
 *
 * Public: other folders include it.
 */
#ifndef GPUSORT_CREW_WORKER_H
#define GPUSORT_CREW_WORKER_H

#include "sort/portion_crew.h"

/*
 * Returns the shared sort whose portions the crew loads.  Called by a worker, so after
 * gpusort_crew_begin().
 */
extern GpuSortParts *gpusort_crew_parts(const GpuSortPortionCrew *crew);

/*
 * Loads one portion after the other into `part`, a part of the shared sort, until no more are
 * wanted.  Called by the worker with this number, counted from 0.
 */
extern void gpusort_crew_load(GpuSortPortionCrew *crew, int number, GpuSort *part);

#endif							/* GPUSORT_CREW_WORKER_H */
