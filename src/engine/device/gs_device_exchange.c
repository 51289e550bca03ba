/*
 * gs_device_exchange.c
 *		How rows get from the device that holds them to that of their share.
 *
 * If all devices reach each other's memory, a device stores each row at its place, on whatever
 * device that is.  If they don't, a device scatters rows into memory of its own first, by bins, and
 * each device fetches from all others the rows of its share: the rows of a bin lie side by side at
 * both ends.
 *
 * A row's place is its position in the final order, but rows of a bucket are not in order yet.  A
 * bin of equal keys may reach beyond the round's shares; its rows of other rounds are given places
 * outside of all targets.
 */
#include <stdlib.h>

#include "engine/device/gs_bucket_private.h"
#include "engine/device/gs_device_private.h"

/*
 * Positions in a device's own memory, for rows on their way, begin at this number, so that
 * positions in front of the first row are not less than 0.
 */
#define LOCAL_BASE		(UINT64_C(1) << 60)

/* Rows of one device and one bin that are in a range of positions. */
typedef struct piece
{
	uint64_t	begin;			/* position of the first row */
	uint64_t	nrows;
} piece;

/* Returns positions[device][bin] of a round; positions[ndevices] has the end of each bin. */
static uint64_t (*
round_positions(const gs_device_job *job, unsigned round))[GS_MAX_BINS]
{
	return job->positions + (size_t) round * (job->ndevices + 1);
}

static uint64_t (*
local_positions(const gs_device_job *job, unsigned round))[GS_MAX_BINS]
{
	return job->local_positions + (size_t) round * job->ndevices;
}

static piece
clip_piece(uint64_t (*positions)[GS_MAX_BINS], unsigned d, unsigned bin, uint64_t begin,
		   uint64_t end)
{
	uint64_t	first = positions[d][bin];
	uint64_t	last = positions[d + 1][bin];

	first = first < begin ? begin : first;
	last = last > end ? end : last;
	return (piece) {first, last > first ? last - first : 0};
}

/*
 * Sets where the rows of each bin that lie on a device go in its own memory, and returns how many
 * of them belong to the round.
 */
static uint64_t
lay_out_local(gs_device_job *job, unsigned round, unsigned d, unsigned nbins)
{
	const uint64_t *cuts = gs_plan_cuts(job->plan);
	uint64_t	(*positions)[GS_MAX_BINS] = round_positions(job, round);
	uint64_t   *local = local_positions(job, round)[d];
	uint64_t	begin = cuts[round * job->ndevices];
	uint64_t	end = cuts[(round + 1) * job->ndevices];
	uint64_t	nrows = 0;

	for (unsigned bin = 0; bin < nbins; bin++)
	{
		piece		inside = clip_piece(positions, d, bin, begin, end);

		/* only the first bin can begin before the round does */
		local[bin] = LOCAL_BASE + nrows;
		if (inside.nrows > 0)
			local[bin] -= inside.begin - positions[d][bin];
		else if (positions[d][bin] < begin)
			local[bin] -= positions[d + 1][bin] - positions[d][bin];
		nrows += inside.nrows;
	}
	return nrows;
}

/* Returns how many rows of a round change devices. */
static uint64_t
count_exchanged(const gs_device_job *job, unsigned round, unsigned nbins)
{
	const uint64_t *cuts = gs_plan_cuts(job->plan) + round * job->ndevices;
	uint64_t	nrows = 0;

	for (unsigned d = 0; d < job->ndevices; d++)
		for (unsigned bin = 0; bin < nbins; bin++)
			for (unsigned to = 0; to < job->ndevices; to++)
				if (to != d)
					nrows += clip_piece(round_positions(job, round), d, bin, cuts[to],
										cuts[to + 1]).nrows;
	return nrows;
}

/*
 * Finds the positions of all rounds.  They stay in memory because uploads may read them until the
 * job ends.
 */
gs_status
gs_exchange_prepare(gs_device_job *job)
{
	size_t		row_bytes = sizeof(*job->positions);
	bool		by_copy = !job->store && job->ndevices > 1;
	bool		digits;

	job->positions = malloc(job->rounds * (job->ndevices + 1) * row_bytes);
	job->local_positions = by_copy ? malloc(job->rounds * job->ndevices * row_bytes) : NULL;
	if (job->positions == NULL || (by_copy && job->local_positions == NULL))
		return gs_job_fail(job, GS_NO_SPACE, "out of memory");

	job->result->exchanged_rows = 0;
	for (unsigned d = 0; d < job->ndevices; d++)
		job->devices[d].local_rows = 0;
	for (unsigned round = 0; round < job->rounds; round++)
	{
		unsigned	first = round * job->ndevices;

		gs_plan_bins(job->plan, first, first + job->ndevices - 1, job->tree,
					 round_positions(job, round), &digits);
		job->result->exchanged_rows += count_exchanged(job, round, job->tree->nbins);
		for (unsigned d = 0; d < job->ndevices && by_copy; d++)
		{
			uint64_t	nrows = lay_out_local(job, round, d, job->tree->nbins);

			if (nrows > job->devices[d].local_rows)
				job->devices[d].local_rows = nrows;
		}
	}
	return GS_OK;
}

/* Makes the tree of a round; *digits is as in gs_plan_bins(). */
void
gs_exchange_tree(gs_device_job *job, unsigned round, bool *digits)
{
	unsigned	first = round * job->ndevices;

	gs_plan_bins(job->plan, first, first + job->ndevices - 1, job->tree,
				 round_positions(job, round), digits);
}

/* Returns where a device's rows of each bin go. */
const uint64_t *
gs_exchange_positions(const gs_device_job *job, unsigned round, unsigned d)
{
	return job->local_positions != NULL ? local_positions(job, round)[d]
		: round_positions(job, round)[d];
}

/* Sets targets[] to what a device's rows are scattered to, and returns how many there are. */
unsigned
gs_exchange_targets(const gs_device_job *job, unsigned round, unsigned d, gs_target *targets)
{
	const uint64_t *cuts = gs_plan_cuts(job->plan) + round * job->ndevices;

	if (job->local_positions != NULL)
	{
		targets[0] = (gs_target) {LOCAL_BASE, job->devices[d].local_rows, job->devices[d].local};
		return 1;
	}
	for (unsigned to = 0; to < job->ndevices; to++)
		targets[to] = (gs_target) {cuts[to], cuts[to + 1] - cuts[to], job->devices[to].pairs};
	return job->ndevices;
}

/*
 * Has the work queues of all devices wait until all are done with what is on some of their queues.
 */
gs_status
gs_exchange_meet(gs_device_job *job, const gs_queue *queues, unsigned nqueues)
{
	for (unsigned q = 0; q < nqueues; q++)
	{
		gs_event_ref events[GS_MAX_DEVICES];

		for (unsigned d = 0; d < job->ndevices; d++)
			GS_DO(job, d, record, queues[q], &events[d]);
		for (unsigned d = 0; d < job->ndevices; d++)
			for (unsigned other = 0; other < job->ndevices; other++)
				if (other != d || queues[q] != GS_QUEUE_WORK)
					GS_DO(job, d, wait, GS_QUEUE_WORK, events[other]);
		for (unsigned d = 0; d < job->ndevices; d++)
			job->devices[d].device->ops->release(job->devices[d].device, events[d]);
	}
	return GS_OK;
}

/* Copies rows that lie side by side on another device, or this one, to their share. */
static gs_status
copy_rows(gs_device_job *job, unsigned to, uint64_t to_row, unsigned from, uint64_t from_row,
		  uint64_t nrows)
{
	const gs_job_device *t = &job->devices[to];
	const gs_job_device *f = &job->devices[from];
	unsigned	id_bytes = job->args.id_bytes;

	if (nrows == 0)
		return GS_OK;
	GS_DO(job, to, copy, GS_QUEUE_WORK, t->pairs.keys + to_row, f->device,
		  f->local.keys + from_row, nrows * sizeof(uint64_t));
	GS_DO(job, to, copy, GS_QUEUE_WORK, (char *) t->pairs.ids + to_row * id_bytes, f->device,
		  (const char *) f->local.ids + from_row * id_bytes, nrows * id_bytes);
	return GS_OK;
}

/*
 * Fetches the rows of a device's share from another one, in as few copies as gaps between them
 * allow.
 */
static gs_status
fetch_rows(gs_device_job *job, unsigned round, unsigned to, unsigned from)
{
	const uint64_t *cuts = gs_plan_cuts(job->plan) + round * job->ndevices;
	uint64_t	(*positions)[GS_MAX_BINS] = round_positions(job, round);
	const uint64_t *local = local_positions(job, round)[from];
	uint64_t	to_row = 0;
	uint64_t	from_row = 0;
	uint64_t	nrows = 0;

	for (unsigned bin = 0; bin < job->tree->nbins; bin++)
	{
		piece		p = clip_piece(positions, from, bin, cuts[to], cuts[to + 1]);
		uint64_t	p_to = p.begin - cuts[to];
		uint64_t	p_from = local[bin] - LOCAL_BASE + p.begin - positions[from][bin];

		if (p.nrows == 0)
			continue;
		if (nrows == 0 || p_to != to_row + nrows || p_from != from_row + nrows)
		{
			GS_TRY(copy_rows(job, to, to_row, from, from_row, nrows));
			to_row = p_to;
			from_row = p_from;
			nrows = 0;
		}
		nrows += p.nrows;
	}
	return copy_rows(job, to, to_row, from, from_row, nrows);
}

/*
 * Brings rows to their share that are not there yet, when all rows of a round have been scattered,
 * and has every device wait for all others.
 */
gs_status
gs_exchange_rows(gs_device_job *job, unsigned round)
{
	static const gs_queue work[] = {GS_QUEUE_WORK};

	GS_TRY(gs_exchange_meet(job, work, 1));
	for (unsigned to = 0; to < job->ndevices && job->local_positions != NULL; to++)
	{
		gs_job_span_begin(job, to, GS_QUEUE_WORK, "exchange");
		for (unsigned i = 1; i <= job->ndevices; i++)
			GS_TRY(fetch_rows(job, round, to, (to + i) % job->ndevices));
		gs_job_span_end(job, to, GS_QUEUE_WORK);
	}
	return GS_OK;
}
