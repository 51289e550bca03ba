/*
 * host_engine.h
 *		Having the engine sort in this process, and in others that help.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_HOST_ENGINE_H
#define GPUSORT_HOST_ENGINE_H

#include "engine/host/gs_sort.h"
#include "sort/sort.h"

/*
 * Runs the engine in this process and serves interrupts meanwhile, whose errors are raised.  A
 * failure of the engine is an error, too.
 */
extern void gpusort_run_engine(gs_sort_args *args, gs_sort_result *result);

/*
 * Sorts the rows by the planes that gpusort_choose_planes() has chosen, and sets sort->order.
 * Returns false if there is no memory for the engine's workspace.
 */
extern bool gpusort_sort_on_host(GpuSort *sort);

#endif							/* GPUSORT_HOST_ENGINE_H */
