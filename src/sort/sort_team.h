/*
 * sort_team.h
 *		Several processes that put the rows of one sort in order.
 *
 * One process has a sort, with all rows in the pool, and runs the engine on them.  Others who
 * share the team's memory help: they map the planes and the workspace, and take part in the
 * engine's phases (engine/host/gs_shared_sort.h).  They also take stretches of the order that is
 * to be verified (team_stretches.h).
 *
 *	before others see it	gpusort_team_init()
 *	the sort's process		gpusort_use_team(), gpusort_perform() ..., gpusort_team_dismiss()
 *	others					gpusort_team_help() (team_help.h), which returns when they are dismissed
 *
 * A process that helps may come at any time, and is not waited for before.  Once it helps it is
 * waited for at the end of each phase; if it fails or is lost, the query fails.
 *
 * Public: other folders include it.
 */
#ifndef GPUSORT_SORT_TEAM_H
#define GPUSORT_SORT_TEAM_H

#include "settings.h"
#include "sort/sort.h"

/* In dynamic shared memory. */
typedef struct GpuSortTeam GpuSortTeam;

extern Size gpusort_team_bytes(void);

/* Of those who help, so many are sure to come; others may, as those do who are there already. */
extern void gpusort_team_init(GpuSortTeam *team, int expected);

/*
 * Have so many processes at most, this one among them, put the rows of a sort in order, if these
 * are so many that it pays.
 */
extern void gpusort_use_team(GpuSort *sort, GpuSortTeam *team, int participants);

/* Let those who help, or will come to help, go on. */
extern void gpusort_team_dismiss(GpuSortTeam *team);

/*
 * Does it pay to have those help who are there anyway?  With fewer rows, as long as these are in
 * the caches, one process is not slower than two that map them and meet after each phase.
 */
static inline bool
gpusort_team_pays(double rows)
{
	return gpusort_force || rows >= gpusort_min_sort_worker_rows / 2;
}

#endif							/* GPUSORT_SORT_TEAM_H */
