/*
 * team_engine.c
 *		Running the engine with a team: what the process that has the sort does; see team_private.h.
 */
#include "postgres.h"

#include "sort/memory_private.h"
#include "sort/state_private.h"
#include "sort/team_private.h"

static TeamEngineJob *
job_of(const GpuSort *sort)
{
	return (TeamEngineJob *) sort->team.job->base;
}

/* Returns the range of a plane's words or nulls that begins at an address, or NULL. */
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

/*
 * Describes in *header what other processes have to map, and adds its extents to *total.  Returns
 * false if some of it can't be mapped.
 */
static bool
count_pieces(const GpuSort *sort, const gs_sort_args *args, TeamEngineJob *header, uint32 *total)
{
	const GpuSortKeys *keys = &sort->keys;

	if (!gpusort_team_job_describe(sort->order.workspace, args->workspace_bytes,
								   &header->workspace, total) ||
		!gpusort_team_job_describe(args->equal != NULL ? sort->order.equal : NULL,
								   gpusort_bitmap_bytes(args->nrows), &header->equal, total))
		return false;
	for (unsigned i = 0; i < keys->nplanes; i++)
	{
		const gs_plane *plane = &keys->planes[i];
		TeamPlane  *to = &header->planes[i];

		to->null_order = plane->null_order;
		to->numbered = plane->numbering != NULL;
		if (range_of(keys, plane->words) == NULL ||
			!gpusort_team_job_describe(range_of(keys, plane->words), args->nrows * sizeof(uint64),
									   &to->words, total) ||
			!gpusort_team_job_describe(plane->nulls != NULL ? range_of(keys, plane->nulls) : NULL,
									   gpusort_bitmap_bytes(args->nrows), &to->nulls, total))
			return false;
	}
	return true;
}

static void
list_pieces(const GpuSort *sort, const TeamEngineJob *header, uint32 *list)
{
	const GpuSortKeys *keys = &sort->keys;

	gpusort_team_job_list(sort->order.workspace, header->workspace, list);
	gpusort_team_job_list(sort->order.equal, header->equal, list);
	for (unsigned i = 0; i < keys->nplanes; i++)
	{
		gpusort_team_job_list(range_of(keys, keys->planes[i].words), header->planes[i].words, list);
		if (keys->planes[i].nulls != NULL)
			gpusort_team_job_list(range_of(keys, keys->planes[i].nulls),
								  header->planes[i].nulls, list);
	}
}

/* Writes the job into the pool.  Returns false if there is no room. */
static bool
write_job(GpuSort *sort, TeamEngineJob *header, uint32 total)
{
	size_t		header_bytes = offsetof(TeamEngineJob, planes) +
		header->nplanes * sizeof(TeamPlane);
	size_t		shared_bytes = gs_shared_sort_bytes(header->nrows, header->nplanes,
													header->participants);

	header->job.kind = TEAM_JOB_ENGINE;
	header->job.list_offset = MAXALIGN(header_bytes);
	header->shared_offset = TYPEALIGN(GS_LINE_BYTES,
									  header->job.list_offset + total * sizeof(uint32));
	if (!gpusort_team_job_make(sort, header->shared_offset + shared_bytes))
		return false;
	memcpy(sort->team.job->base, header, header_bytes);
	list_pieces(sort, header, (uint32 *) (sort->team.job->base + header->job.list_offset));
	return true;
}

bool
gpusort_team_offer(GpuSort *sort, const gs_sort_args *args, int participants)
{
	TeamEngineJob *header = palloc0(offsetof(TeamEngineJob, planes) +
									args->nplanes * sizeof(TeamPlane));
	uint32		total = 0;
	bool		offered;

	header->nrows = args->nrows;
	header->nplanes = args->nplanes;
	header->participants = Min(participants, GS_MAX_PARTICIPANTS);
	header->want_keys = args->want_keys;
	header->workspace_bytes = args->workspace_bytes;
	offered = gpusort_pool != NULL && count_pieces(sort, args, header, &total) &&
		write_job(sort, header, total);
	if (offered &&
		gs_shared_sort_init(team_shared_sort(job_of(sort)), args, header->participants) != GS_OK)
		elog(ERROR, "gpusort: engine refuses a sort by %u processes", header->participants);
	pfree(header);
	return offered;
}

bool
gpusort_team_run(GpuSort *sort, const gs_sort_args *args, gs_sort_result *result)
{
	gs_sort_args mine = *args;
	TeamEngineJob *job = job_of(sort);
	gs_shared_sort *shared = team_shared_sort(job);
	gs_participant *participant;
	gs_status	status;

	gpusort_team_listen(&mine);
	sort->team.memory = palloc(gs_participant_bytes(args->nrows, job->participants) +
							   GS_LINE_BYTES);
	participant = gs_participant_begin((void *) TYPEALIGN(GS_LINE_BYTES, sort->team.memory),
									   shared, &mine);
	gpusort_team_job_open(sort);
	status = gpusort_team_participate(sort->team.team, participant, shared);
	gpusort_team_job_close(sort);
	if (status != GS_OK)
		return false;
	gs_participant_result(participant, result);
	if (gs_shared_sort_participants(shared) > 1)
		sort->stats.processes = gs_shared_sort_participants(shared);
	return true;
}
