/*
 * host_engine.h
 *		Having the engine sort in this process, and others that help.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_HOST_ENGINE_H
#define GPUSORT_HOST_ENGINE_H

#include "engine/host/gs_sort.h"
#include "sort/sort.h"

/* Run the engine, serving interrupts; may raise their errors, and no others. */
extern void gpusort_run_engine(gs_sort_args *args, gs_sort_result *result);

/* Sort by the planes that were chosen; false if there is no memory for it. */
extern bool gpusort_sort_on_host(GpuSort *sort);

#endif							/* GPUSORT_HOST_ENGINE_H */
