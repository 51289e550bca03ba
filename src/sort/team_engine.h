/*
 * team_engine.h
 *		Running the engine with a team: what the process that has the sort does.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_TEAM_ENGINE_H
#define GPUSORT_TEAM_ENGINE_H

#include "engine/host/gs_sort.h"
#include "sort/sort_team.h"

/*
 * Prepare a run of the engine by at most `participants` processes, this one among them.  Returns
 * false if there is no room in the pool for what they share, or if some of the planes or of the
 * workspace is private memory.
 */
extern bool gpusort_team_offer(GpuSort *sort, const gs_sort_args *args, int participants);

/*
 * Run the engine, together with those processes of the sort's team that are there or come
 * meanwhile.  The result's layout is valid until the team is withdrawn (gpusort_team_withdraw()).
 * Returns false if one of them was interrupted and has gone on: then the planes are as before, and
 * one process can sort.
 */
extern bool gpusort_team_run(GpuSort *sort, const gs_sort_args *args, gs_sort_result *result);

#endif							/* GPUSORT_TEAM_ENGINE_H */
