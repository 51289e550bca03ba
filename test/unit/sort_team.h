/*
 * sort_team.h
 *		A sort by several participants, each a thread.
 */
#ifndef SORT_TEAM_H
#define SORT_TEAM_H

#include "engine/host/gs_sort.h"

/*
 * Sort by so many participants; half of them come late if so it is wanted, wherever the others are.
 * The result, its layout included, is there until the next call.
 */
extern gs_status sort_by_team(const gs_sort_args *args, unsigned participants, bool late,
							  gs_sort_result *result);

#endif							/* SORT_TEAM_H */
