/*
 * team_help.c
 *		Helping another process to put the rows of its sort in order; see sort.h.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/shm_toc.h"
#include "utils/memutils.h"

#include "memory/pool.h"
#include "pg_compat.h"
#include "sort/order_private.h"
#include "sort/sort.h"
#include "sort/team_private.h"
#include "team/worker_wait.h"
#include "team/workers.h"

/* The wait event of this file, which is registered when it is first used. */
static uint32 wait_event = 0;

PGDLLEXPORT void gpusort_sort_worker(dsm_segment *segment, shm_toc *toc);

/* ---------- running the engine ---------- */

/* Maps the planes of a job.  Returns false if there is no address space. */
static bool
map_planes(const TeamEngineJob *job, gs_sort_args *args)
{
	gs_plane   *planes = palloc0(job->nplanes * sizeof(gs_plane));

	for (uint32 i = 0; i < job->nplanes; i++)
	{
		const TeamPlane *plane = &job->planes[i];
		const char *words = gpusort_team_job_map(&job->job, plane->words, false);

		if (words == NULL)
			return false;
		planes[i].null_order = plane->null_order;
		planes[i].words = (const uint64 *) (words + plane->words_offset);
		if (plane->nulls.count > 0 &&
			(planes[i].nulls = (const uint64 *) gpusort_team_job_map(&job->job, plane->nulls,
																	 false)) == NULL)
			return false;
		if (plane->numbered)
			planes[i].numbering = palloc(sizeof(gs_numbering));
	}
	args->planes = planes;
	args->nplanes = job->nplanes;
	return true;
}

/*
 * Maps the workspace and the bitmap of equal rows.  Items are scattered over the second half of the
 * workspace, so that each process touches most of its pages, which are populated at once.  In the
 * first half a process touches the pages of its own pieces only.
 */
static bool
map_workspace(TeamEngineJob *job, gs_sort_args *args)
{
	size_t		half = job->workspace_bytes / 2 / EXTENT_BYTES * EXTENT_BYTES;

	args->workspace = gpusort_team_job_map(&job->job, job->workspace, true);
	if (args->workspace == NULL)
		return false;
	gpusort_mapping_populate((char *) args->workspace + half, job->workspace_bytes - half);
	args->workspace_bytes = job->workspace_bytes;
	if (job->equal_offset > 0)
		args->equal = team_lent_equal(job);
	if (job->equal.count == 0)
		return true;
	args->equal = (uint64 *) gpusort_team_job_map(&job->job, job->equal, true);
	return args->equal != NULL;
}

/* Allocates memory for a participant, aligned to a line of the cache. */
static void *
participant_memory(const TeamEngineJob *job)
{
	Size		bytes = gs_participant_bytes(job->nrows, job->participants);

	return (void *) TYPEALIGN(GS_LINE_BYTES, palloc(bytes + GS_LINE_BYTES));
}

static void
help_engine(GpuSortTeam *team, TeamEngineJob *job)
{
	gs_shared_sort *shared = team_shared_sort(job);
	gs_participant *participant;
	gs_sort_args args = {
		.nrows = job->nrows,.id_bytes = sizeof(uint32),.want_keys = job->want_keys
	};

	gpusort_team_listen(&args);
	participant = map_planes(job, &args) && map_workspace(job, &args)
		? gs_participant_begin(participant_memory(job), shared, &args) : NULL;
	gpusort_team_job_begin(team);
	if (participant != NULL)
		(void) gpusort_team_participate(team, participant, shared);
}

/* ---------- stretches of the order ---------- */

static void
help_with_stretches(GpuSortTeam *team, TeamStretches *job)
{
	GpuSort    *sort = gpusort_borrow(&job->job, team_lent_sort(job));

	gpusort_team_job_begin(team);
	if (sort == NULL)
		return;
	if (job->job.kind == TEAM_JOB_REFINE)
		gpusort_refine_stretches(sort, job);
	else if (job->job.kind == TEAM_JOB_VERIFY)
		gpusort_verify_stretches(sort, job);
	else
		gpusort_look_at_stretches(sort, job);
}

/* ---------- for all kinds of jobs ---------- */

/* Takes part in the team's job.  A process that can't map it leaves it to the others. */
static void
help(GpuSortTeam *team)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "GpuSort team",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	TeamJob    *job = (TeamJob *) gpusort_team_job_map_extents(team->extents, team->count, true);

	if (job != NULL && job->kind == TEAM_JOB_ENGINE)
		help_engine(team, (TeamEngineJob *) job);
	else if (job != NULL)
		help_with_stretches(team, (TeamStretches *) job);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	SpinLockAcquire(&team->mutex);
	team->users--;
	SpinLockRelease(&team->mutex);
	ConditionVariableBroadcast(&team->changed);
	CHECK_FOR_INTERRUPTS();
}

/*
 * Begins to use the team's job, if there is one that this process has not seen yet.  Returns false
 * if there is none.
 */
static bool
take_job(GpuSortTeam *team, uint32 *seen, bool *dismissed)
{
	bool		taken;

	SpinLockAcquire(&team->mutex);
	*dismissed = team->dismissed;
	taken = !team->dismissed && team->open && team->number != *seen;
	if (taken)
	{
		*seen = team->number;
		team->users++;
	}
	SpinLockRelease(&team->mutex);
	return taken;
}

void
gpusort_team_help(GpuSortTeam *team)
{
	uint32		seen = 0;
	bool		dismissed;

	SpinLockAcquire(&team->mutex);
	team->helpers++;
	SpinLockRelease(&team->mutex);
	do
	{
		bool		taken;

		ConditionVariablePrepareToSleep(&team->changed);
		while (!(taken = take_job(team, &seen, &dismissed)) && !dismissed)
			gpusort_worker_await(&team->changed, gpusort_wait_event(&wait_event, "GpuSortTeam"));
		ConditionVariableCancelSleep();
		if (taken)
			help(team);
	} while (!dismissed);
}

/* The entry point of a worker that is started for nothing but helping (sort_workers.c). */
void
gpusort_sort_worker(dsm_segment *segment, shm_toc *toc)
{
	gpusort_begin_worker(toc);
	gpusort_team_help(gpusort_member(toc, 0));
	gpusort_end_worker(toc);
}
