/*
 * gs_device_ties.c
 *		Keys wider than a section: rows that tie on what they are sorted by so far.
 *
 * After a share has been sorted on the first 64 bits, the rows that have a neighbour with the same
 * bits are taken out.  Each gets the number of its run in front of the next bits of its key: as
 * many bits as there is room for beside that number.  Sorted on both, the rows are in order within
 * their runs, and their ids go back to the places that the runs take.  The same is done with the
 * rows that still tie, until none does or the key ends; rows that tie then are equal.
 *
 * The further sections are gathered from the planes where they are, row by row, by the device
 * itself: out of host memory as a rule.  The cost follows the number of rows that tie, and no plane
 * is uploaded for them.
 *
 * Rows are taken from one pair of arrays to another and sorted with the former as spare, so two
 * pairs are enough.  At first these are the share's keys, which are not needed any more once they
 * were compared, with ids of their own, since the share's ids are the result; and the share's
 * spare.
 */
#include "engine/device/gs_device_private.h"

/* Begins with all rows of a share, which are sorted on the first section. */
static gs_status
begin_ties(gs_device_job *job, unsigned d, uint64_t nrows)
{
	gs_job_device *jd = &job->devices[d];
	gs_ties    *ties = &jd->ties;

	*ties = (gs_ties) {
		.active = nrows > 1,
		.cursor = job->cursor,
		.known_ties = jd->proof.sorted.ties,
		.nrows = nrows,
		.pairs = jd->pairs,
		.other = jd->spare,
	};
	if (!ties->active)
		return GS_OK;
	ties->ranks = gs_job_alloc(job, d, nrows * sizeof(uint64_t));
	ties->temp = gs_job_alloc(job, d, jd->device->ops->ties_temp_bytes(jd->device, nrows));
	if (ties->ranks == NULL || ties->temp == NULL)
		return gs_job_fail(job, GS_NO_SPACE, "not enough device memory for rows that tie");
	return gs_job_follow(job, d, GS_QUEUE_WORK, d, GS_QUEUE_WORK2);
}

/* Takes the memory that is needed once it is known how many rows tie. */
static gs_status
take_memory(gs_device_job *job, unsigned d, uint64_t nrows)
{
	gs_device  *device = job->devices[d].device;
	gs_ties    *ties = &job->devices[d].ties;
	unsigned	id_bytes = job->args.id_bytes;

	ties->ids = gs_job_alloc(job, d, nrows * id_bytes);
	ties->other_positions = gs_job_alloc(job, d, nrows * sizeof(uint32_t));
	ties->free_positions = gs_job_alloc(job, d, nrows * sizeof(uint32_t));
	ties->sort_temp = gs_job_alloc(job, d, device->ops->sort_temp_bytes(device, id_bytes, nrows));
	if (ties->ids == NULL || ties->other_positions == NULL || ties->free_positions == NULL ||
		ties->sort_temp == NULL)
		return gs_job_fail(job, GS_NO_SPACE, "not enough device memory for rows that tie");
	return GS_OK;
}

/* Gives all memory for ties back; nothing may be using it any more. */
static void
end_ties(gs_device_job *job, unsigned d)
{
	gs_ties    *ties = &job->devices[d].ties;

	gs_job_free(job, d, ties->ranks);
	gs_job_free(job, d, ties->temp);
	gs_job_free(job, d, ties->ids);
	gs_job_free(job, d, ties->positions);
	gs_job_free(job, d, ties->other_positions);
	gs_job_free(job, d, ties->free_positions);
	gs_job_free(job, d, ties->sort_temp);
	*ties = (gs_ties) {.active = false};
}

/* Takes the rows that tie out of those at hand, with the next section of their keys. */
static gs_status
gather_ties(gs_device_job *job, unsigned d, const gs_section *section, uint64_t tied_rows)
{
	gs_ties    *ties = &job->devices[d].ties;
	gs_plane_rows planes[GS_SECTION_MAX_BITS];
	gs_pairs	from = ties->pairs;
	uint32_t   *from_positions = ties->positions;

	for (unsigned i = 0; i < section->npieces; i++)
	{
		const gs_job_plane *p = &job->planes[section->pieces[i].field->plane];

		/* words on the device, if it is the only one */
		planes[i].words = job->ndevices == 1 ? p->words : p->host_words;
		planes[i].nulls = p->nulls;
	}
	GS_DO(job, d, take_ties, GS_QUEUE_WORK, from, from_positions, ties->ranks, ties->nrows,
		  job->args.id_bytes, section, planes, job->nsegments, ties->other_positions, ties->other);

	ties->nrows = tied_rows;
	ties->pairs = ties->other;
	ties->other = from;
	ties->positions = ties->other_positions;
	ties->other_positions = from_positions;
	if (from_positions == NULL)
	{
		/* the ids of the share itself are the result */
		ties->other.ids = ties->ids;
		ties->other_positions = ties->free_positions;
		ties->free_positions = NULL;
	}
	return GS_OK;
}

/* Puts the rows at hand in order, and their ids where they belong. */
static gs_status
sort_ties(gs_device_job *job, unsigned d, unsigned bits)
{
	gs_job_device *jd = &job->devices[d];
	gs_ties    *ties = &jd->ties;
	bool		in_spare = false;

	GS_TRY(gs_proof_tied(job, d));
	GS_DO(job, d, sort, GS_QUEUE_WORK, ties->pairs, ties->other, job->args.id_bytes, ties->nrows,
		  0, bits, ties->sort_temp, &in_spare);
	if (in_spare)
	{
		gs_pairs	sorted = ties->other;

		ties->other = ties->pairs;
		ties->pairs = sorted;
	}
	GS_DO(job, d, put_ids, GS_QUEUE_WORK, jd->pairs.ids, ties->positions, ties->pairs.ids,
		  job->args.id_bytes, ties->nrows);
	return gs_proof_refined(job, d);
}

/* Refines the rows that tie on a device by one more section. */
static gs_status
refine_share(gs_device_job *job, unsigned d, unsigned share)
{
	gs_job_device *jd = &job->devices[d];
	gs_ties    *ties = &jd->ties;
	bool		first = ties->positions == NULL;
	gs_tie_counts counts;
	gs_section	section;
	unsigned	run_bits;
	unsigned	width;

	GS_DO(job, d, find_ties, GS_QUEUE_WORK, ties->pairs.keys, ties->nrows, ties->ranks,
		  ties->temp, &counts);
	if (counts.rows - counts.runs != ties->known_ties)
		return gs_job_fail(job, GS_DEVICE_WRONG, "a device has sorted wrongly: ties were not found");
	ties->active = counts.rows > 0;
	if (!ties->active)
		return GS_OK;
	if (first)
	{
		job->result->refined_rows += counts.rows;
		GS_TRY(take_memory(job, d, counts.rows));
	}

	run_bits = gs_bit_width(counts.runs - 1);
	width = GS_SECTION_MAX_BITS - run_bits;
	if (width > ties->cursor.bits_left)
		width = (unsigned) ties->cursor.bits_left;
	gs_section_build(&section, &job->layout, &ties->cursor, width);
	GS_TRY(gather_ties(job, d, &section, counts.rows));
	GS_TRY(sort_ties(job, d, run_bits + width));

	ties->active = ties->cursor.bits_left > 0;
	if (!ties->active && jd->bitmap != NULL)
		GS_DO(job, d, mark_equal, GS_QUEUE_WORK, ties->pairs.keys, ties->positions, ties->nrows,
			  false, (unsigned) (gs_plan_cuts(job->plan)[share] % 64), (uint32_t *) jd->bitmap);
	return GS_OK;
}

/* Proves that the rows that were just refined are right, if there were any. */
static gs_status
prove_ties(gs_device_job *job, unsigned d)
{
	gs_job_device *jd = &job->devices[d];

	if (jd->ties.positions == NULL)
		return GS_OK;
	GS_TRY(gs_proof_ties(job, d));
	jd->ties.known_ties = jd->proof.refined.ties;
	return GS_OK;
}

/* Brings the shares of a round from the order of the first section to that of the key. */
gs_status
gs_ties_round(gs_device_job *job, unsigned round)
{
	const uint64_t *cuts = gs_plan_cuts(job->plan) + round * job->ndevices;
	bool		refined[GS_MAX_DEVICES];
	bool		more = true;

	for (unsigned d = 0; d < job->ndevices; d++)
	{
		GS_TRY(begin_ties(job, d, cuts[d + 1] - cuts[d]));
		gs_job_span_begin(job, d, GS_QUEUE_WORK, "ties");
	}
	while (more)
	{
		more = false;
		GS_TRY(gs_job_poll(job));
		for (unsigned d = 0; d < job->ndevices; d++)
		{
			refined[d] = job->devices[d].ties.active;
			if (refined[d])
				GS_TRY(refine_share(job, d, round * job->ndevices + d));
			more |= refined[d];
		}
		for (unsigned d = 0; d < job->ndevices; d++)
			if (refined[d])
				GS_TRY(prove_ties(job, d));
	}
	for (unsigned d = 0; d < job->ndevices; d++)
	{
		GS_TRY(gs_proof_placed(job, d, cuts[d + 1] - cuts[d]));
		gs_job_span_end(job, d, GS_QUEUE_WORK);
	}
	for (unsigned d = 0; d < job->ndevices; d++)
	{
		GS_TRY(gs_proof_places(job, d));
		end_ties(job, d);
	}
	return GS_OK;
}
