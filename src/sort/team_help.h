/*
 * team_help.h
 *		Helping another process to put the rows of its sort in order.
 *
 * Public: other folders include it.
 */
#ifndef GPUSORT_TEAM_HELP_H
#define GPUSORT_TEAM_HELP_H

#include "sort/sort_team.h"

/* Help whoever of the team has something to sort, until there will be no more. */
extern void gpusort_team_help(GpuSortTeam *team);

#endif							/* GPUSORT_TEAM_HELP_H */
