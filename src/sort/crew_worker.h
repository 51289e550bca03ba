/*
 * crew_worker.h
 *		A worker of a crew that loads portions of a sort (portion_crew.h).
 *
 * Public: other folders include it.
 */
#ifndef GPUSORT_CREW_WORKER_H
#define GPUSORT_CREW_WORKER_H

#include "sort/portion_crew.h"

/* By a worker, when the crew has begun: the shared sort. */
extern GpuSortParts *gpusort_crew_parts(const GpuSortPortionCrew *crew);

/* By worker `number`, from 0 on: load portions into the part, until no more are wanted. */
extern void gpusort_crew_load(GpuSortPortionCrew *crew, int number, GpuSort *part);

#endif							/* GPUSORT_CREW_WORKER_H */
