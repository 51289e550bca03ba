/*
 * team_help.h
 *		Helping another process to put the rows of its sort in order.
 *
 * Public: other folders include it.
 */
#ifndef GPUSORT_TEAM_HELP_H
#define GPUSORT_TEAM_HELP_H

#include "sort/sort_team.h"

/* Help the process that has the team's sort with all its jobs, until it dismisses the team. */
extern void gpusort_team_help(GpuSortTeam *team);

#endif							/* GPUSORT_TEAM_HELP_H */
