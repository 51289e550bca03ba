/*
 * team_engine.c
 *		Running the engine with a team: the side of the process that has the sort; see team_engine.h.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/latch.h"
#include "utils/wait_event.h"

#include "pg_compat.h"
#include "sort/sort_ranges.h"
#include "sort/sort_state.h"
#include "sort/team_engine.h"
#include "sort/team_layout.h"
#include "worker_wait.h"

/* What a process waits for here, as others see it. */
static uint32 wait_event = 0;

/* In tests, how long to wait for others, and for the first of them to be seen. */
#define COMPANY_MS		1
#define COMPANY_WAITS	300
#define ALONE_WAITS		10

static TeamJobHeader *
job_of(const GpuSort *sort)
{
	return (TeamJobHeader *) sort->team.job->base;
}

/* The range that begins at an address where one of the planes does. */
static const GpuSortRange *
range_of(const GpuSortKeys *keys, const uint64 *base)
{
	for (int i = 0; i < keys->ncolumns; i++)
	{
		const GpuSortColumn *column = &keys->columns[i];

		if (column->prefix != NULL && RANGE_U64(column->prefix) == base)
			return column->prefix;
		if (column->nulls != NULL && RANGE_U64(column->nulls) == base)
			return column->nulls;
		for (int w = 0; w < column->nwords; w++)
		{
			if (RANGE_U64(column->words[w]) == base)
				return column->words[w];
		}
	}
	return NULL;
}

/* Extents of the first bytes of a range, added to what was counted; false if it has some private memory. */
static bool
count_extents(const GpuSortRange *range, size_t bytes, TeamPiece *piece, uint32 *total)
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

static void
list_extents(const GpuSortRange *range, TeamPiece piece, TeamJobHeader *header)
{
	const uint32 *extents;
	uint32		count;

	if (range != NULL && gpusort_range_extents(range, &extents, &count))
		memcpy((uint32 *) team_list(header) + piece.first, extents, piece.count * sizeof(uint32));
}

/* Describe what others have to map; false if some of it can't be. */
static bool
count_pieces(const GpuSort *sort, const gs_sort_args *args, TeamJobHeader *header, uint32 *total)
{
	const GpuSortKeys *keys = &sort->keys;

	if (!count_extents(sort->order.workspace, args->workspace_bytes, &header->workspace, total) ||
		!count_extents(args->equal != NULL ? sort->order.equal : NULL, gpusort_bitmap_bytes(args->nrows),
					   &header->equal, total))
		return false;
	for (unsigned i = 0; i < keys->nplanes; i++)
	{
		const gs_plane *plane = &keys->planes[i];
		TeamPlane  *to = &header->planes[i];

		to->null_order = plane->null_order;
		to->numbered = plane->numbering != NULL;
		if (range_of(keys, plane->words) == NULL ||
			!count_extents(range_of(keys, plane->words), args->nrows * sizeof(uint64), &to->words, total) ||
			!count_extents(plane->nulls != NULL ? range_of(keys, plane->nulls) : NULL,
						   gpusort_bitmap_bytes(args->nrows), &to->nulls, total))
			return false;
	}
	return true;
}

static void
list_pieces(const GpuSort *sort, TeamJobHeader *header)
{
	const GpuSortKeys *keys = &sort->keys;

	list_extents(sort->order.workspace, header->workspace, header);
	list_extents(sort->order.equal, header->equal, header);
	for (unsigned i = 0; i < keys->nplanes; i++)
	{
		list_extents(range_of(keys, keys->planes[i].words), header->planes[i].words, header);
		if (keys->planes[i].nulls != NULL)
			list_extents(range_of(keys, keys->planes[i].nulls), header->planes[i].nulls, header);
	}
}

/* Have a range for the job in the pool, and write it there; NULL if there is no room. */
static GpuSortRange *
write_job(GpuSort *sort, const gs_sort_args *args, TeamJobHeader *header, uint32 total)
{
	size_t		header_bytes = offsetof(TeamJobHeader, planes) + header->nplanes * sizeof(TeamPlane);
	size_t		shared_bytes = gs_shared_sort_bytes(args->nrows, header->nplanes, header->participants);
	GpuSortRange *range = gpusort_acquire_range(sort, GPUSORT_RANGE_TEAM);
	const uint32 *extents;
	uint32		count;

	if (range == NULL)
		return NULL;
	header->list_offset = MAXALIGN(header_bytes);
	header->shared_offset = TYPEALIGN(GS_LINE_BYTES, header->list_offset + total * sizeof(uint32));
	if (!gpusort_range_grow(range, header->shared_offset + shared_bytes) ||
		!gpusort_range_extents(range, &extents, &count) || count > TEAM_MAX_EXTENTS)
	{
		gpusort_range_release(range);
		return NULL;
	}
	memcpy(range->base, header, header_bytes);
	list_pieces(sort, (TeamJobHeader *) range->base);
	return range;
}

bool
gpusort_team_offer(GpuSort *sort, const gs_sort_args *args, int participants)
{
	TeamJobHeader *header = palloc0(offsetof(TeamJobHeader, planes) + args->nplanes * sizeof(TeamPlane));
	uint32		total = 0;

	header->nrows = args->nrows;
	header->nplanes = args->nplanes;
	header->participants = Min(participants, GS_MAX_PARTICIPANTS);
	header->want_keys = args->want_keys;
	header->workspace_bytes = args->workspace_bytes;
	if (gpusort_pool != NULL && count_pieces(sort, args, header, &total))
		sort->team.job = write_job(sort, args, header, total);
	if (sort->team.job != NULL &&
		gs_shared_sort_init(team_shared_sort(job_of(sort)), args, header->participants) != GS_OK)
		elog(ERROR, "gpusort: engine refuses a sort by %u processes", header->participants);
	pfree(header);
	return sort->team.job != NULL;
}

/* Let others see the job. */
static void
open_job(GpuSortTeam *team, const GpuSortRange *job)
{
	const uint32 *extents;
	uint32		count;

	if (!gpusort_range_extents(job, &extents, &count))
		elog(ERROR, "gpusort: a job of several processes is not in the pool");
	SpinLockAcquire(&team->mutex);
	memcpy(team->extents, extents, count * sizeof(uint32));
	team->count = count;
	team->number++;
	team->open = true;
	team->phase = 0;
	team->arrived = 0;
	SpinLockRelease(&team->mutex);
	ConditionVariableBroadcast(&team->changed);
}

/* Nobody is to begin any more; wait until those that have have let go of it. */
static void
close_job(GpuSortTeam *team)
{
	SpinLockAcquire(&team->mutex);
	team->open = false;
	SpinLockRelease(&team->mutex);
	ConditionVariablePrepareToSleep(&team->changed);
	for (;;)
	{
		int			users;

		SpinLockAcquire(&team->mutex);
		users = team->users;
		SpinLockRelease(&team->mutex);
		if (users == 0)
			break;
		gpusort_worker_await(&team->changed, gpusort_wait_event(&wait_event, "GpuSortTeam"));
	}
	ConditionVariableCancelSleep();
}

static bool
any_helpers(GpuSortTeam *team)
{
	bool		any;

	SpinLockAcquire(&team->mutex);
	any = team->helpers > 0;
	SpinLockRelease(&team->mutex);
	return any;
}

/*
 * Of few rows, which only tests have sorted by several processes, none would be left for those that
 * come: wait for the first one to begin.  It may have done all meanwhile.
 */
static void
await_company(GpuSortTeam *team, gs_shared_sort *shared)
{
	for (int i = 0; gs_shared_sort_participants(shared) == 1; i++)
	{
		if (i >= (any_helpers(team) ? COMPANY_WAITS : ALONE_WAITS))
			break;
		(void) WaitLatch(NULL, WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, COMPANY_MS,
						 gpusort_wait_event(&wait_event, "GpuSortTeam"));
		CHECK_FOR_INTERRUPTS();
	}
}

bool
gpusort_team_run(GpuSort *sort, GpuSortTeam *team, const gs_sort_args *args, gs_sort_result *result)
{
	gs_sort_args mine = *args;
	TeamJobHeader *job = job_of(sort);
	gs_shared_sort *shared = team_shared_sort(job);
	gs_participant *participant;
	gs_status	status;

	gpusort_team_listen(&mine);
	sort->team.memory = palloc(gs_participant_bytes(args->nrows, job->participants) + GS_LINE_BYTES);
	participant = gs_participant_begin((void *) TYPEALIGN(GS_LINE_BYTES, sort->team.memory), shared, &mine);
	sort->team.running = true;
	open_job(team, sort->team.job);
	if (unlikely(gpusort_force))
		await_company(team, shared);
	status = gpusort_team_participate(team, participant, shared);
	close_job(team);
	sort->team.running = false;
	CHECK_FOR_INTERRUPTS();
	if (status != GS_OK)
		return false;
	gs_participant_result(participant, result);
	sort->stats.processes = gs_shared_sort_participants(shared);
	return true;
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
