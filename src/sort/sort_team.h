/*
 * sort_team.h
 *		Several processes that put the rows of one sort in order.
 *
 * One process has a sort, with all rows in the pool, and runs the engine on them.  Other processes,
 * which share the team's memory, help: they map the planes and the workspace, and take part in the
 * engine's phases (engine/host/gs_sort.h).  They also take stretches of the order in which
 * ties are to be refined, or which is to be verified (team_stretches.c).
 *
 *	before others see the team	gpusort_team_init()
 *	process that has the sort	gpusort_use_team(), gpusort_perform() ..., gpusort_team_dismiss()
 *	processes that help			gpusort_team_help(), which returns when the team is dismissed
 *
 * A process that helps may come at any time, and nobody waits for it to come.  Once it helps, the
 * others wait for it at the end of each phase; if it fails or is lost, the query fails.
 */
#ifndef GPUSORT_SORT_TEAM_H
#define GPUSORT_SORT_TEAM_H

#include "settings.h"
#include "sort/sort.h"
#include "team/workers.h"

/* ---------- the team ---------- */

/* A team, in dynamic shared memory. */
typedef struct GpuSortTeam GpuSortTeam;

extern Size gpusort_team_bytes(void);

/* Initialise a team in which `expected` processes are sure to help.  Others may help as well. */
extern void gpusort_team_init(GpuSortTeam *team, int expected);

/* Returns the declaration of a chunk that is a team which nobody is sure to help. */
extern GpuSortChunk gpusort_team_chunk(void);

/*
 * Have at most `participants` processes, this one among them, put the rows of a sort in order, if
 * there are so many rows that it pays.
 */
extern void gpusort_use_team(GpuSort *sort, GpuSortTeam *team, int participants);

/* Let the processes that help, or will come to help, return. */
extern void gpusort_team_dismiss(GpuSortTeam *team);

/*
 * Returns whether it pays to have processes help that are there anyway.  Fewer rows stay in the
 * caches, and then one process is not slower than two that map the rows and meet after each phase.
 */
static inline bool
gpusort_team_pays(double rows)
{
	return gpusort_force || rows >= gpusort_min_sort_worker_rows / 2;
}

/* ---------- helping another process to put the rows of its sort in order ---------- */

/* Help the process that has the team's sort with all its jobs, until it dismisses the team. */
extern void gpusort_team_help(GpuSortTeam *team);

#endif							/* GPUSORT_SORT_TEAM_H */
