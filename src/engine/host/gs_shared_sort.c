/*
 * gs_shared_sort.c
 *		The engine on the host, by any number of participants; see gs_sort.h.
 *
 *	gs_shared		what participants have in common: sizes, and pieces
 *	gs_participant	what each has for itself
 *	gs_steps		what a participant does in a phase: pieces of a step
 *	gs_decide		which step comes next; one participant decides, between two phases
 *	gs_splitters	cutting buckets by a sample, where leading bits say little
 *	gs_scatter		distributing items over buckets
 *	gs_task			a bucket: sorted, refined, its row ids written
 */
#include "engine/host/gs_sort_private.h"
#include "engine/host/gs_sort.h"

static bool
are_valid(uint64_t nrows, unsigned nplanes, unsigned participants)
{
	return nrows <= GS_MAX_ROWS && nplanes <= GS_MAX_PLANES && participants > 0 &&
		participants <= GS_MAX_PARTICIPANTS;
}

size_t
gs_shared_sort_bytes(uint64_t nrows, unsigned nplanes, unsigned participants)
{
	gs_shared_sort shared = {.nrows = nrows, .nplanes = nplanes, .participants = participants};

	return are_valid(nrows, nplanes, participants) ? gs_shared_plan(&shared) : SIZE_MAX;
}

gs_status
gs_shared_sort_init(gs_shared_sort *shared, const gs_sort_args *args, unsigned participants)
{
	gs_merged_stats *stats;

	if (args == NULL || shared == NULL || !are_valid(args->nrows, args->nplanes, participants) ||
		(args->id_bytes != 4 && args->id_bytes != 8) ||
		(args->id_bytes == 4 && args->nrows > UINT64_C(1) << 32))
		return GS_INVALID;
	if (args->workspace_bytes < gs_sort_workspace_bytes(args->nrows))
		return GS_NO_SPACE;
	*shared = (gs_shared_sort) {
		.nrows = args->nrows,
		.nplanes = args->nplanes,
		.participants = participants,
		.id_bits = args->nrows > 1 ? gs_bit_width(args->nrows - 1) : 0,
		.id_bytes = args->id_bytes,
		.want_keys = args->want_keys && args->equal == NULL,
		.step = GS_STEP_KEY,
	};
	(void) gs_shared_plan(shared);
	shared->pieces = shared->npieces;
	stats = gs_shared_stats(shared);
	for (unsigned i = 0; i < args->nplanes; i++)
		stats[i] = (gs_merged_stats) GS_MERGED_STATS_INIT;
	return GS_OK;
}

gs_participant *
gs_participant_begin(void *memory, gs_shared_sort *shared, const gs_sort_args *args)
{
	unsigned	number = atomic_fetch_add(&shared->begun, 1);

	if (number >= shared->participants)
	{
		atomic_fetch_sub(&shared->begun, 1);
		return NULL;
	}
	return gs_participant_make(memory, shared, args, number);
}

/*
 * In even phases participants work; in odd phases the first of them decides what is done in the
 * next one.
 */
gs_status
gs_participate(gs_participant *participant, uint32_t phase)
{
	gs_shared_sort *shared = participant->shared;
	uint32_t	decided = phase / 2;

	if (phase % 2 == 0)
	{
		if (!gs_steps_work(participant))
			return GS_CANCELLED;
	}
	else if (atomic_compare_exchange_strong(&shared->decided, &decided, decided + 1))
		gs_decide(participant);
	return atomic_load(&shared->failed) ? GS_CANCELLED : GS_OK;
}

bool
gs_shared_sort_done(const gs_shared_sort *shared, uint32_t phase)
{
	return phase % 2 == 0 && shared->step == GS_STEP_DONE;
}

unsigned
gs_shared_sort_participants(gs_shared_sort *shared)
{
	return atomic_load(&shared->begun);
}

void
gs_participant_result(gs_participant *participant, gs_sort_result *result)
{
	gs_shared_sort *shared = participant->shared;
	bool		in_home = shared->keys_only || shared->id_bytes == sizeof(uint64_t);
	void	   *rows = participant->halves[in_home ? shared->home : 1 - shared->home];

	gs_participant_know_key(participant);
	gs_progress_finish(participant->job.progress);
	result->ids = shared->keys_only ? NULL : rows;
	result->keys = shared->keys_only ? rows : NULL;
	result->layout = participant->job.layout;
	result->key_bits = (unsigned) shared->key_bits;
	result->passes = (shared->home == 1) + shared->rounds;
	result->refined_rows = atomic_load(&shared->refined_rows);
	result->presorted = !atomic_load(&shared->moved);
}
