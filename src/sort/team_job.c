/*
 * team_job.c
 *		A job that a team helps with; see team_private.h.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/latch.h"
#include "utils/wait_event.h"

#include "memory/pool.h"
#include "pg_compat.h"
#include "sort/memory_private.h"
#include "sort/sort.h"
#include "sort/state_private.h"
#include "sort/team_private.h"
#include "team/worker_wait.h"

/* The wait event of this file, which is registered when it is first used. */
static uint32 wait_event = 0;

/*
 * In tests: how often to wait for a process to begin that is there or was started to help, and how
 * often for one that may yet come; and how long each time.
 */
#define COMPANY_MS		1
#define COMPANY_WAITS	300
#define ALONE_WAITS		10

bool
gpusort_team_job_describe(const GpuSortRange *range, size_t bytes, TeamPiece *piece, uint32 *total)
{
	const uint32 *extents;

	*piece = (TeamPiece) {.first = *total};
	if (range == NULL)
		return true;
	if (!gpusort_range_extents(range, &extents, &piece->count))
		return false;
	piece->count = Min(piece->count, (bytes + EXTENT_BYTES - 1) / EXTENT_BYTES);
	*total += piece->count;
	return true;
}

void
gpusort_team_job_list(const GpuSortRange *range, TeamPiece piece, uint32 *list)
{
	const uint32 *extents;
	uint32		count;

	if (range != NULL && gpusort_range_extents(range, &extents, &count))
		memcpy(list + piece.first, extents, piece.count * sizeof(uint32));
}

bool
gpusort_team_job_make(GpuSort *sort, size_t bytes)
{
	GpuSortRange *range = gpusort_acquire_range(sort, GPUSORT_RANGE_TEAM);
	const uint32 *extents;
	uint32		count;

	if (range == NULL)
		return false;
	if (!gpusort_range_grow(range, bytes) || !gpusort_range_extents(range, &extents, &count) ||
		count > TEAM_MAX_EXTENTS)
	{
		gpusort_range_release(range);
		return false;
	}
	sort->team.job = range;
	return true;
}

/* Returns how many processes use the job. */
static int
count_users(GpuSortTeam *team)
{
	int			count;

	SpinLockAcquire(&team->mutex);
	count = team->users;
	SpinLockRelease(&team->mutex);
	return count;
}

/* Returns how often to wait for a process to begin with the job. */
static int
count_company_waits(GpuSortTeam *team)
{
	int			waits = 0;

	SpinLockAcquire(&team->mutex);
	if (team->begun == 0 && (team->helpers > 0 || team->expected > 0))
		waits = COMPANY_WAITS;
	else if (team->begun == 0 && !team->awaited)
		waits = ALONE_WAITS;
	SpinLockRelease(&team->mutex);
	return waits;
}

/*
 * Waits for the first process to begin with the job.  Only tests have few rows sorted by several
 * processes; without this, no rows would be left for processes that come.  If none has come, none
 * is waited for again until one does.
 */
static void
await_company(GpuSortTeam *team)
{
	for (int i = 0; i < count_company_waits(team); i++)
	{
		(void) WaitLatch(NULL, WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, COMPANY_MS,
						 gpusort_wait_event(&wait_event, "GpuSortTeam"));
		CHECK_FOR_INTERRUPTS();
	}
	SpinLockAcquire(&team->mutex);
	team->expected = 0;
	team->awaited = true;
	SpinLockRelease(&team->mutex);
}

void
gpusort_team_job_open(GpuSort *sort)
{
	GpuSortTeam *team = sort->team.team;
	const uint32 *extents;
	uint32		count;

	if (!gpusort_range_extents(sort->team.job, &extents, &count))
		elog(ERROR, "gpusort: a job of several processes is not in the pool");
	sort->team.running = true;
	SpinLockAcquire(&team->mutex);
	memcpy(team->extents, extents, count * sizeof(uint32));
	team->count = count;
	team->number++;
	team->open = true;
	team->begun = 0;
	team->phase = 0;
	team->arrived = 0;
	SpinLockRelease(&team->mutex);
	ConditionVariableBroadcast(&team->changed);
	if (unlikely(gpusort_force))
		await_company(team);
}

void
gpusort_team_job_begin(GpuSortTeam *team)
{
	SpinLockAcquire(&team->mutex);
	team->begun++;
	SpinLockRelease(&team->mutex);
}

void
gpusort_team_job_close(GpuSort *sort)
{
	GpuSortTeam *team = sort->team.team;

	SpinLockAcquire(&team->mutex);
	team->open = false;
	SpinLockRelease(&team->mutex);
	ConditionVariablePrepareToSleep(&team->changed);
	while (count_users(team) > 0)
		gpusort_worker_await(&team->changed, gpusort_wait_event(&wait_event, "GpuSortTeam"));
	ConditionVariableCancelSleep();
	sort->team.running = false;
	CHECK_FOR_INTERRUPTS();
}

void
gpusort_team_withdraw(GpuSort *sort)
{
	if (sort->team.job != NULL)
		gpusort_range_release(sort->team.job);
	if (sort->team.memory != NULL)
		pfree(sort->team.memory);
	sort->team.job = NULL;
	sort->team.memory = NULL;
}

/* ---------- mapping ---------- */

typedef struct MappedExtents
{
	MemoryContextCallback on_reset;
	char	   *base;
	uint32		count;
} MappedExtents;

static void
unmap_extents(void *arg)
{
	MappedExtents *mapped = arg;

	gpusort_mapping_end(mapped->base, mapped->count);
}

/* Allocates what unmapping takes before anything is mapped, so that it can't fail afterwards. */
static MappedExtents *
begin_mapping(uint32 count)
{
	MappedExtents *mapped = palloc(sizeof(MappedExtents));

	*mapped = (MappedExtents) {.on_reset = {.func = unmap_extents,.arg = mapped},.count = count};
	return mapped;
}

static char *
end_mapping(MappedExtents *mapped, char *base)
{
	mapped->base = base;
	if (base != NULL)
		MemoryContextRegisterResetCallback(CurrentMemoryContext, &mapped->on_reset);
	return base;
}

char *
gpusort_team_job_map_extents(const uint32 *list, uint32 count, bool writable)
{
	MappedExtents *mapped = begin_mapping(count);

	return end_mapping(mapped, gpusort_mapping_make(list, count, writable));
}

char *
gpusort_team_job_map_with_room(const TeamJob *job, TeamPiece piece, uint32 more)
{
	MappedExtents *mapped = begin_mapping(piece.count + more);

	return end_mapping(mapped, gpusort_mapping_make_before(team_list(job) + piece.first,
														   piece.count, more));
}

char *
gpusort_team_job_map(const TeamJob *job, TeamPiece piece, bool writable)
{
	return gpusort_team_job_map_extents(team_list(job) + piece.first, piece.count, writable);
}

/* ---------- several processes that put the rows of one sort in order: the team ---------- */

Size
gpusort_team_bytes(void)
{
	return sizeof(GpuSortTeam);
}

void
gpusort_team_init(GpuSortTeam *team, int expected)
{
	memset(team, 0, sizeof(*team));
	team->expected = expected;
	SpinLockInit(&team->mutex);
	ConditionVariableInit(&team->changed);
}

static bool
fill_team(void *member, const GpuSortMember *declared, ParallelContext *context)
{
	gpusort_team_init(member, 0);
	return true;
}

GpuSortMember
gpusort_team_member(void)
{
	return (GpuSortMember) {gpusort_team_bytes(), fill_team};
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
