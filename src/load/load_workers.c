/*
 * load_workers.c
 *		Loading by the leader and parallel workers; see load_state_private.h.
 *
 * The leader reads the input and cuts it where records end.  When there is no room for another
 * chunk, the leader loads chunks, too.  PostgreSQL's own code can't go on in parallel mode, so what
 * is left to it is copied out of the shared memory first.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/catalog.h"
#include "commands/copyfrom_internal.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/lwlock.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "load/load_rows_private.h"
#include "load/load_share_private.h"
#include "load/load_state_private.h"
#include "pg_compat/copy.h"
#include "settings.h"
#include "team/workers.h"

/* There is one worker for this many chunks. */
#define CHUNKS_PER_WORKER	8

/* Members of the shared memory. */
enum
{
	MEMBER_TASK,
	MEMBER_SHARE,
	MEMBER_PARTS,
	MEMBER_AREA,
	MEMBERS
};

typedef struct LoadTeam
{
	GpuSortLoadState *state;
	ParallelContext *context;
	GpuSortLoadShare *share;
	GpuSortLoadParts *parts;	/* used if the table is partitioned */
	dsa_area   *area;			/* where participants leave the order of their rows */
	GpuSortLoadDevice *device;	/* finds fields; or NULL: participants do */
	GpuSortLoader *loader;
	GpuSortLoader *left;		/* loads chunks that are left to the leader */
} LoadTeam;

PGDLLEXPORT void gpusort_load_worker(dsm_segment *segment, shm_toc *toc);

/* ---------- workers ---------- */

/*
 * Returns how many workers may take part, if their locks are to find room in the lock table.  Each
 * participant locks each partition that it puts rows into, and the partition's indexes.  The table
 * has room for gpusort_lock_places() locks, and for twice as many holders of locks, of whom each
 * worker is one more for each lock.  PostgreSQL's COPY would need one for each partition.
 */
static int
most_workers(const GpuSortLoadState *state)
{
	int			locks = state->nparts + state->leaves.nindexes;
	int64		participants = locks > 0 ? gpusort_lock_places() / locks : PG_INT32_MAX;

	return Max(Min(participants, PG_INT32_MAX) - 1, 0);
}

/*
 * Workers can't be used for sequences.  Workers know nothing of subtransactions, which logical
 * decoding has to be told of, nor of a replication origin.
 */
int
gpusort_load_workers(const GpuSortLoadState *state, uint64 chunks)
{
	Relation	table = state->statement->table;

	/* a partition may be logged even if its parent is not */
	if (state->task->sequences || RelationUsesLocalBuffers(table) ||
		gpusort_has_replication_origin() ||
		((state->task->partitioned ? XLogLogicalInfoActive()
		  : RelationIsLogicallyLogged(table)) && IsSubTransaction()))
		return 0;
	if (!gpusort_force)
		chunks /= CHUNKS_PER_WORKER;
	return Min(Min(max_parallel_maintenance_workers, most_workers(state)), chunks);
}

/* Each fills the member of its name, for the team at `from`. */

static bool
fill_share(void *member, const GpuSortMember *declared, ParallelContext *context)
{
	LoadTeam   *team = declared->from;

	team->share = member;
	gpusort_share_init(team->share, gpusort_load_places(team->device, context->nworkers),
					   gpusort_load_device_extents(team->device));
	return true;
}

static bool
fill_parts(void *member, const GpuSortMember *declared, ParallelContext *context)
{
	LoadTeam   *team = declared->from;

	team->parts = member;
	gpusort_load_parts_init(team->parts, team->state->nparts, &team->state->leaves);
	return true;
}

static bool
fill_area(void *member, const GpuSortMember *declared, ParallelContext *context)
{
	LoadTeam   *team = declared->from;

	team->area = dsa_create_in_place(member, declared->bytes, LWTRANCHE_PARALLEL_QUERY_DSA,
									 context->seg);
	return true;
}

static void
end_team(LoadTeam *team)
{
	if (team->area != NULL)
		dsa_detach(team->area);
	team->state->lines.order.area = NULL;
	team->share = NULL;
	if (team->context != NULL)
		gpusort_workers_end(team->context);
	gpusort_load_device_end(team->device);
}

static ParallelContext *
start_workers(LoadTeam *team, int nworkers)
{
	const GpuSortLoadTask *task = team->state->task;
	Size		share_bytes = gpusort_share_bytes(gpusort_load_places(team->device, nworkers),
												  team->device != NULL);
	const GpuSortMember members[MEMBERS] = {
		[MEMBER_TASK] = gpusort_member_of_bytes(task->bytes, task),
		[MEMBER_SHARE] = {share_bytes, fill_share, team},
		[MEMBER_PARTS] = {gpusort_load_parts_bytes(team->state->nparts), fill_parts, team},
		[MEMBER_AREA] = {dsa_minimum_size(), fill_area, team}
	};

	return gpusort_workers_start("gpusort_load_worker", nworkers, members, MEMBERS);
}

static bool
begin_team(LoadTeam *team, int nworkers)
{
	/* a device could only find the fields of text that has not been converted yet */
	if (!team->state->task->dialect.binary && !gpusort_encoding_converts(team->state->encoding))
		team->device = gpusort_load_device_begin(&team->state->task->dialect, nworkers);
	team->context = start_workers(team, nworkers);
	if (team->context == NULL)
		end_team(team);
	return team->context != NULL;
}

void
gpusort_load_worker(dsm_segment *segment, shm_toc *toc)
{
	GpuSortLoadTask *task = gpusort_member(toc, MEMBER_TASK);
	GpuSortLoadShare *share = gpusort_member(toc, MEMBER_SHARE);
	GpuSortLoadParts *parts = gpusort_member(toc, MEMBER_PARTS);
	Relation	table;
	GpuSortLoader *loader;
	dsa_area   *area;

	gpusort_begin_worker(toc);
	table = table_open(task->table, RowExclusiveLock);
	area = dsa_attach_in_place(gpusort_member(toc, MEMBER_AREA), segment);
	loader = gpusort_loader_begin(task, table, parts);
	gpusort_loader_share_order(loader, area);
	gpusort_share_load_all(share, loader);
	gpusort_worker_fault("the end of a COPY");
	gpusort_loader_end(loader);
	if (task->partitioned)
		gpusort_load_parts_await_leader(parts);
	dsa_detach(area);
	table_close(table, RowExclusiveLock);
	gpusort_end_worker(toc);
}

/* ---------- filling chunks ---------- */

typedef enum AddResult
{
	ADD_ADDED,
	ADD_NOT_YET,				/* the source is slow */
	ADD_TOO_LONG				/* no record ends in a chunk, or nothing is left */
} AddResult;

/*
 * Moves what is in the buffer to a chunk, and reads more behind it.  The last record goes back to
 * the buffer if it does not end in the chunk.
 */
static AddResult
add_chunk(LoadTeam *team, char *chunk)
{
	GpuSortLoadState *state = team->state;
	Size		left = state->bytes - state->begin;
	Size		bytes;
	Size		whole;

	memcpy(chunk, state->buffer + state->begin, left);
	bytes = left + gpusort_load_read(state, chunk + left, GPUSORT_LOAD_CHUNK_BYTES - left);
	whole = bytes;
	if (!state->source.at_end)
		whole = gpusort_encoding_records(state->encoding, &state->task->dialect, chunk, bytes);
	state->begin = 0;
	state->bytes = bytes - whole;
	memcpy(state->buffer, chunk + whole, state->bytes);
	if (whole == 0)
		return bytes == GPUSORT_LOAD_CHUNK_BYTES || state->source.at_end
			? ADD_TOO_LONG : ADD_NOT_YET;
	gpusort_share_fill(team->share, whole, state->source.at_end);
	return ADD_ADDED;
}

/*
 * Adds another chunk if there is room, and says in *added whether it did.  Returns whether no more
 * chunks will be added.
 */
static bool
add_next_chunk(LoadTeam *team, bool *added)
{
	const GpuSortLoadSource *source = &team->state->source;
	char	   *room = gpusort_share_room(team->share, &team->state->lines);
	AddResult	result = ADD_TOO_LONG;

	*added = false;
	if (room == NULL)
		return false;
	if (!source->failed && !source->at_end)
		result = add_chunk(team, room);
	*added = result == ADD_ADDED;
	if (result != ADD_TOO_LONG && !source->at_end)
		return false;
	gpusort_share_close(team->share);
	return true;
}

/* ---------- the leader ---------- */

static void
show_team_progress(const LoadTeam *team)
{
	GpuSortLoadCounts counts = gpusort_share_counts(team->share);

	gpusort_load_show_progress(team->state, &counts);
}

/* An error context callback, which sets the line before the callback of COPY shows it. */
static void
find_error_line(void *arg)
{
	const LoadTeam *team = arg;
	uint64		line = team->share != NULL ? gpusort_share_error_line(team->share) : 0;

	if (line > 0)
		team->state->copy->cur_lineno = team->state->counts.lines + line;
}

static void
lead_team(LoadTeam *team)
{
	bool		all_added = false;

	for (;;)
	{
		bool		added = false;

		CHECK_FOR_INTERRUPTS();
		show_team_progress(team);
		if (gpusort_share_load_left(team->share, team->left))
			continue;
		gpusort_load_device_serve(team->device, team->share);
		if (!all_added)
			all_added = add_next_chunk(team, &added);
		if (added || gpusort_share_load(team->share, team->loader, team->left))
			continue;
		if (all_added && gpusort_share_is_done(team->share))
			return;
		if (gpusort_share_has_ended(team->share))
			return;
		if (gpusort_load_device_wait(team->device))
			continue;
		gpusort_share_wait(team->share);
	}
}

/* Puts what has not been loaded in front of what is in the buffer. */
static void
take_rest(LoadTeam *team)
{
	GpuSortLoadState *state = team->state;
	Size		unloaded = gpusort_share_rest(team->share, NULL);
	Size		left = state->bytes - state->begin;
	char	   *buffer;

	if (unloaded == 0)
		return;
	buffer = MemoryContextAllocHuge(GetMemoryChunkContext(state), unloaded + left);
	gpusort_share_rest(team->share, buffer);
	memcpy(buffer + unloaded, state->buffer + state->begin, left);
	pfree(state->buffer);
	state->buffer = buffer;
	state->begin = 0;
	state->bytes = unloaded + left;
}

static void
finish_team(LoadTeam *team)
{
	GpuSortLoadState *state = team->state;
	GpuSortLoadCounts counts;

	gpusort_share_close(team->share);
	gpusort_load_parts_take_over(team->parts, state->task->table);
	gpusort_workers_finish(team->context);
	gpusort_load_parts_end(team->parts, &state->leaves);
	counts = gpusort_share_counts(team->share);
	gpusort_share_take_lines(team->share, &state->lines);
	take_rest(team);
	gpusort_load_add_counts(&state->counts, &counts);
	state->share = NULL;
}

bool
gpusort_load_together(GpuSortLoadState *state, int nworkers)
{
	LoadTeam	team = {.state = state};
	ErrorContextCallback context = {error_context_stack, find_error_line, &team};

	/*
	 * a worker's error is raised with the callbacks that there were when the parallel context was
	 * made
	 */
	error_context_stack = &context;
	if (!begin_team(&team, nworkers))
	{
		error_context_stack = context.previous;
		return false;
	}
	team.loader = gpusort_loader_begin(state->task, state->statement->table, team.parts);
	team.left = gpusort_loader_begin(state->task, state->statement->table, team.parts);
	gpusort_loader_share_order(team.loader, team.area);
	gpusort_loader_share_order(team.left, team.area);
	state->lines.order.area = team.area;
	state->share = team.share;
	lead_team(&team);
	finish_team(&team);
	error_context_stack = context.previous;
	gpusort_loader_end(team.loader);
	gpusort_loader_end(team.left);
	ereport(DEBUG1,
			(errmsg_internal("gpusort loaded with %d workers", team.context->nworkers_launched)));
	end_team(&team);
	return true;
}
