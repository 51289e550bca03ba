/*
 * team_gate.h
 *		The gate between the phases of a sort by several processes.  A phase ends when all that are
 *		inside the gate have arrived.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_TEAM_GATE_H
#define GPUSORT_TEAM_GATE_H

#include "sort/team_layout.h"

/*
 * Take part in the engine's run for the open job, from whatever phase it is in to its end.  Returns
 * GS_CANCELLED if this process or another one was interrupted.
 */
extern gs_status gpusort_team_participate(GpuSortTeam *team, gs_participant *participant,
										  gs_shared_sort *shared);

/* Have the engine stop, in a team, for what ends the query or the session, and for nothing else. */
extern void gpusort_team_listen(gs_sort_args *args);

#endif							/* GPUSORT_TEAM_GATE_H */
