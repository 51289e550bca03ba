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

static bool
has_address(const GpuSortRange *range, const uint64 *address)
{
	return range != NULL && (const char *) address >= range->base &&
		(const char *) address < range->base + range->usable;
}

/* Returns the range of a plane's words or nulls in which an address lies, or NULL. */
static const GpuSortRange *
range_of(const GpuSortKeys *keys, const uint64 *address)
{
	for (int i = 0; i < keys->ncolumns; i++)
	{
		const GpuSortColumn *column = &keys->columns[i];

		if (has_address(column->prefix, address))
			return column->prefix;
		if (has_address(column->nulls, address))
			return column->nulls;
		for (int w = 0; w < column->nwords; w++)
		{
			if (has_address(column->words[w], address))
				return column->words[w];
		}
	}
	return NULL;
}

/*
 * Returns whether the bitmap of equal rows is not the sort's own, and has to lie in the job for the
 * others to see it.
 */
static bool
lends_equal(const GpuSort *sort, const gs_sort_args *args)
{
	return args->equal != NULL &&
		(sort->order.equal == NULL || args->equal != RANGE_U64(sort->order.equal));
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
		!gpusort_team_job_describe(args->equal != NULL && !lends_equal(sort, args)
								   ? sort->order.equal : NULL,
								   gpusort_bitmap_bytes(args->nrows), &header->equal, total))
		return false;
	for (unsigned i = 0; i < args->nplanes; i++)
	{
		const gs_plane *plane = &args->planes[i];
		const GpuSortRange *words = range_of(keys, plane->words);
		TeamPlane  *to = &header->planes[i];

		to->null_order = plane->null_order;
		to->numbered = plane->numbering != NULL;
		if (words == NULL)
			return false;
		to->words_offset = (const char *) plane->words - words->base;
		if (!gpusort_team_job_describe(words, to->words_offset + args->nrows * sizeof(uint64),
									   &to->words, total) ||
			!gpusort_team_job_describe(plane->nulls != NULL ? range_of(keys, plane->nulls) : NULL,
									   gpusort_bitmap_bytes(args->nrows), &to->nulls, total))
			return false;
	}
	return true;
}

static void
list_pieces(const GpuSort *sort, const gs_sort_args *args, const TeamEngineJob *header,
			uint32 *list)
{
	const GpuSortKeys *keys = &sort->keys;

	gpusort_team_job_list(sort->order.workspace, header->workspace, list);
	if (header->equal.count > 0)
		gpusort_team_job_list(sort->order.equal, header->equal, list);
	for (unsigned i = 0; i < args->nplanes; i++)
	{
		const gs_plane *plane = &args->planes[i];

		gpusort_team_job_list(range_of(keys, plane->words), header->planes[i].words, list);
		if (plane->nulls != NULL)
			gpusort_team_job_list(range_of(keys, plane->nulls), header->planes[i].nulls, list);
	}
}

/* Writes the job into the pool.  Returns false if there is no room. */
static bool
write_job(GpuSort *sort, const gs_sort_args *args, TeamEngineJob *header, uint32 total)
{
	size_t		header_bytes = offsetof(TeamEngineJob, planes) +
		header->nplanes * sizeof(TeamPlane);
	size_t		bytes;

	header->job.kind = TEAM_JOB_ENGINE;
	header->job.list_offset = MAXALIGN(header_bytes);
	header->shared_offset = TYPEALIGN(GS_LINE_BYTES,
									  header->job.list_offset + total * sizeof(uint32));
	bytes = header->shared_offset +
		gs_shared_sort_bytes(header->nrows, header->nplanes, header->participants);
	if (lends_equal(sort, args))
	{
		header->equal_offset = TYPEALIGN(GS_LINE_BYTES, bytes);
		bytes = header->equal_offset + gpusort_bitmap_bytes(args->nrows);
	}
	if (!gpusort_team_job_make(sort, bytes))
		return false;
	memcpy(sort->team.job->base, header, header_bytes);
	list_pieces(sort, args, header, (uint32 *) (sort->team.job->base + header->job.list_offset));
	return true;
}

/*
 * Prepares a run of the engine by the team.  Returns false if there is no room in the pool for what
 * its processes share, or if some of the planes or of the workspace is private memory.
 */
static bool
offer_run(GpuSort *sort, const gs_sort_args *args)
{
	TeamEngineJob *header = palloc0(offsetof(TeamEngineJob, planes) +
									args->nplanes * sizeof(TeamPlane));
	uint32		total = 0;
	bool		offered;

	header->nrows = args->nrows;
	header->nplanes = args->nplanes;
	header->participants = Min(sort->team.participants, GS_MAX_PARTICIPANTS);
	header->want_keys = args->want_keys;
	header->workspace_bytes = args->workspace_bytes;
	offered = gpusort_pool != NULL && count_pieces(sort, args, header, &total) &&
		write_job(sort, args, header, total);
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
	TeamEngineJob *job;
	gs_shared_sort *shared;
	gs_participant *participant;
	gs_status	status;

	if (!offer_run(sort, args))
		return false;
	job = job_of(sort);
	shared = team_shared_sort(job);
	if (job->equal_offset > 0)
		mine.equal = team_lent_equal(job);
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
	if (job->equal_offset > 0)
		memcpy(args->equal, mine.equal, (args->nrows + 63) / 64 * sizeof(uint64));
	if (gs_shared_sort_participants(shared) > 1)
		sort->stats.processes = Max(sort->stats.processes, gs_shared_sort_participants(shared));
	return true;
}
