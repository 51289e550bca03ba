/*
 * team_gate.h
 *		The gate between the phases of a sort by several processes.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_TEAM_GATE_H
#define GPUSORT_TEAM_GATE_H

#include "sort/team_layout.h"

/*
 * Take part in the open job, from whatever phase it is in to its end.  GS_CANCELLED: this process
 * was interrupted, or another one.
 */
extern gs_status gpusort_team_participate(GpuSortTeam *team, gs_participant *participant,
										  gs_shared_sort *shared);

/* What the engine stops for in a team: what ends the query or the session. */
extern void gpusort_team_listen(gs_sort_args *args);

#endif							/* GPUSORT_TEAM_GATE_H */
