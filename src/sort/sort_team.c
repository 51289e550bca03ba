/*
 * sort_team.c
 *		Several processes that put the rows of one sort in order: the team; see sort_team.h.
 */
#include "postgres.h"

#include "sort/sort_team.h"
#include "sort/state_private.h"
#include "sort/team_private.h"

Size
gpusort_team_bytes(void)
{
	return sizeof(GpuSortTeam);
}

void
gpusort_team_init(GpuSortTeam *team, int expected)
{
	memset(team, 0, sizeof(*team));
	team->helpers = expected;
	SpinLockInit(&team->mutex);
	ConditionVariableInit(&team->changed);
}

void
gpusort_use_team(GpuSort *sort, GpuSortTeam *team, int participants)
{
	sort->team.team = team;
	sort->team.participants = participants;
}

void
gpusort_team_dismiss(GpuSortTeam *team)
{
	SpinLockAcquire(&team->mutex);
	team->dismissed = true;
	SpinLockRelease(&team->mutex);
	ConditionVariableBroadcast(&team->changed);
}
