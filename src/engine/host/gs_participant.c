/*
 * gs_participant.c
 *		One participant of a sort: what it has for itself.
 *
 * What is shared has no addresses, as each process has its own.  So each participant has a layout
 * with pointers to its planes, made from what all participants have found in the words.  A
 * participant that comes late makes its layout when it comes.
 */
#include "engine/host/gs_sort_private.h"

size_t
gs_participant_bytes(uint64_t nrows, unsigned participants)
{
	gs_shared_sort shared = {.nrows = nrows, .participants = participants};

	gs_shared_plan(&shared);
	return gs_round_to_line(sizeof(gs_participant)) + gs_round_to_line(sizeof(gs_scratch)) +
		gs_scatter_bytes(gs_shared_bucket_bits(&shared, nrows));
}

gs_participant *
gs_participant_make(void *memory, gs_shared_sort *shared, const gs_sort_args *args,
					unsigned number)
{
	gs_participant *participant = memory;
	char	   *rest = (char *) memory + gs_round_to_line(sizeof(*participant));

	*participant = (gs_participant) {.shared = shared, .args = args, .number = number};
	participant->job = (gs_job) {
		.scratch = (gs_scratch *) rest,
		.nrows = args->nrows,
		.equal = args->equal,
		.cancel = args->cancel,
		.also_cancel = args->also_cancel,
		.progress = args->progress,
	};
	participant->job.layout = &participant->job.scratch->layout;
	rest += gs_round_to_line(sizeof(gs_scratch));
	gs_scatter_make(&participant->scatter, rest, gs_shared_bucket_bits(shared, args->nrows));
	participant->halves[0] = args->workspace;
	participant->halves[1] = participant->halves[0] +
		gs_workspace_half_bytes(args->nrows) / sizeof(uint64_t);
	return participant;
}

void
gs_participant_know_layout(gs_participant *participant)
{
	if (!participant->has_layout)
		gs_key_read(&participant->job.scratch->layout, participant->args, &participant->numbered,
					gs_shared_stats(participant->shared));
	participant->has_layout = true;
}

void
gs_participant_know_key(gs_participant *participant)
{
	gs_shared_sort *shared = participant->shared;
	gs_job	   *job = &participant->job;

	if (shared->step == GS_STEP_KEY)
		return;
	gs_participant_know_layout(participant);
	job->keys_only = shared->keys_only;
	job->id_bits = shared->id_bits;
	job->bits_behind_first = shared->bits_behind_first;
	if (!participant->has_section && job->layout->key_bits > 0)
	{
		participant->behind_section = gs_layout_start(job->layout);
		gs_section_build(&job->scratch->section, job->layout, &participant->behind_section,
						 gs_job_section_bits(job, participant->behind_section));
		participant->has_section = true;
	}
}

gs_status
gs_participant_read_key(gs_participant *participant)
{
	GS_TRY(gs_key_build(&participant->job.scratch->layout, participant->args));
	participant->has_layout = true;
	return GS_OK;
}
