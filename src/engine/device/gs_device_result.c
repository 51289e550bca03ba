/*
 * gs_device_result.c
 *		Returning sorted row ids to the caller, bucket by bucket.
 *
 * Every bucket has an entry in job->ready, in the order of positions, with the event behind its
 * download.  The caller waits for one entry after the other, while devices go on sorting.
 *
 * The bitmap of equal neighbours is downloaded share by share.  A word that two shares have bits
 * of, and the last word, can't be downloaded so: each device keeps its part of such *border words*,
 * and when all is done they are put together here.
 *
 * If all keys are equal there is nothing to sort, and the devices write ascending ids.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/device/gs_device_private.h"

/* So many ids a device writes at a time if all keys are equal, unless the options say otherwise. */
#define COUNTED_ROWS	(UINT64_C(4) << 20)

/* Downloads bytes of an array to where they belong in a span. */
static gs_status
download_span(gs_device_job *job, unsigned d, gs_span to, uint64_t offset, const void *from,
			  uint64_t bytes)
{
	uint64_t	part_bytes = UINT64_C(1) << to.shift;

	while (bytes > 0)
	{
		uint64_t	count = part_bytes - offset % part_bytes;

		count = count < bytes ? count : bytes;
		GS_DO(job, d, download, GS_QUEUE_DOWN, gs_span_at(to, offset), from, count);
		from = (const char *) from + count;
		offset += count;
		bytes -= count;
	}
	return GS_OK;
}

/* Makes room for the entries of so many buckets. */
gs_status
gs_result_begin(gs_device_job *job, unsigned nready)
{
	job->ready = calloc(nready + 1, sizeof(*job->ready));
	job->nborders = 0;
	job->borders = malloc((2 * job->nshares + 1) * sizeof(*job->borders));
	job->border_bits = malloc((2 * job->nshares + 1) * sizeof(*job->border_bits));
	if (job->ready == NULL || job->borders == NULL || job->border_bits == NULL)
		return gs_job_fail(job, GS_NO_SPACE, "out of memory");
	job->nready = nready;
	job->next_ready = 0;
	for (unsigned d = 0; d < job->ndevices; d++)
		job->devices[d].nborders = 0;
	return GS_OK;
}

static void
forget_turn(gs_device_job *job, unsigned d, unsigned turn)
{
	gs_event_ref *event = &job->devices[d].turn_downloaded[turn];

	if (*event != NULL)
		job->devices[d].device->ops->release(job->devices[d].device, *event);
	*event = NULL;
}

/* Marks that the downloads of a round, whose turn it is, are on their queues. */
gs_status
gs_result_mark_turn(gs_device_job *job, unsigned turn)
{
	for (unsigned d = 0; d < job->ndevices; d++)
	{
		forget_turn(job, d, turn);
		GS_DO(job, d, record, GS_QUEUE_DOWN, &job->devices[d].turn_downloaded[turn]);
	}
	return GS_OK;
}

/* Has all devices wait until no download reads what the last round of this turn has left. */
gs_status
gs_result_await_turn(gs_device_job *job, unsigned turn)
{
	for (unsigned other = 0; other < job->ndevices; other++)
	{
		gs_event_ref event = job->devices[other].turn_downloaded[turn];

		for (unsigned d = 0; d < job->ndevices && event != NULL; d++)
			GS_DO(job, d, wait, GS_QUEUE_WORK, event);
	}
	return GS_OK;
}

/* Forgets all entries, and releases events that were not waited for. */
void
gs_result_end(gs_device_job *job)
{
	for (unsigned i = 0; i < job->nready; i++)
	{
		gs_ready   *ready = &job->ready[i];

		if (ready->event != NULL)
			job->devices[ready->device].device->ops->release(job->devices[ready->device].device,
															 ready->event);
	}
	for (unsigned d = 0; d < job->ndevices; d++)
		for (unsigned turn = 0; turn < 2; turn++)
			forget_turn(job, d, turn);
	free(job->ready);
	free(job->borders);
	free(job->border_bits);
	job->ready = NULL;
	job->borders = NULL;
	job->border_bits = NULL;
	job->nready = 0;
}

/* Downloads the ids of positions [begin, end), for entry number i. */
static gs_status
download_ids(gs_device_job *job, unsigned d, unsigned i, uint64_t begin, uint64_t end,
			 const void *ids)
{
	unsigned	id_bytes = job->args.id_bytes;

	gs_job_span_begin(job, d, GS_QUEUE_DOWN, "download");
	GS_TRY(download_span(job, d, job->args.ids, begin * id_bytes, ids, (end - begin) * id_bytes));
	gs_job_span_end(job, d, GS_QUEUE_DOWN);
	if (job->ready[i].event != NULL)	/* it was downloaded before it was in order */
		job->devices[d].device->ops->release(job->devices[d].device, job->ready[i].event);
	job->ready[i].event = NULL;
	job->ready[i].end = end;
	job->ready[i].device = d;
	GS_DO(job, d, record, GS_QUEUE_DOWN, &job->ready[i].event);
	return GS_OK;
}

/* Downloads a bucket's ids, after what is on the queue `behind` now. */
gs_status
gs_result_download(gs_device_job *job, unsigned d, gs_queue behind, const gs_bucket *bucket,
				   const void *ids)
{
	const gs_bucket *buckets;

	gs_plan_buckets(job->plan, &buckets);
	GS_TRY(gs_job_follow(job, d, GS_QUEUE_DOWN, d, behind));
	return download_ids(job, d, (unsigned) (bucket - buckets), bucket->begin, bucket->end, ids);
}

/* Keeps a word of the bitmap that other shares may have bits of. */
static gs_status
keep_border(gs_device_job *job, unsigned d, uint64_t word, const uint64_t *bits)
{
	gs_job_device *jd = &job->devices[d];
	gs_border_word *border = &job->borders[job->nborders++];

	border->word = word;
	border->device = d;
	border->slot = jd->nborders++;
	GS_DO(job, d, copy, GS_QUEUE_DOWN, jd->borders + border->slot, jd->device, bits,
		  sizeof(*bits));
	return GS_OK;
}

/* Downloads the bitmap of a share, for all of whose buckets operations have been put on queues. */
gs_status
gs_result_bitmap(gs_device_job *job, unsigned d, unsigned share)
{
	const uint64_t *cuts = gs_plan_cuts(job->plan);
	uint64_t	begin = cuts[share];
	uint64_t	end = cuts[share + 1];
	uint64_t	base = begin / 64;
	uint64_t	first = (begin + 63) / 64;
	uint64_t	last = end / 64;
	const uint64_t *bitmap = job->devices[d].bitmap;

	if (begin == end)
		return GS_OK;
	GS_TRY(gs_job_follow(job, d, GS_QUEUE_DOWN, d, GS_QUEUE_WORK));
	GS_TRY(gs_job_follow(job, d, GS_QUEUE_DOWN, d, GS_QUEUE_WORK2));
	if (first > base)
		GS_TRY(keep_border(job, d, base, bitmap));
	if (end % 64 != 0 && (last > base || first == base))
		GS_TRY(keep_border(job, d, last, bitmap + (last - base)));
	if (first >= last)
		return GS_OK;
	return download_span(job, d, job->args.equal, first * sizeof(uint64_t),
						 bitmap + (first - base), (last - first) * sizeof(uint64_t));
}

/* Waits for the rest of a device's bitmap, and downloads its border words. */
static gs_status
download_borders(gs_device_job *job, unsigned d, uint64_t *bits)
{
	const gs_job_device *jd = &job->devices[d];

	if (jd->nborders > 0)
		GS_DO(job, d, download, GS_QUEUE_DOWN, bits, jd->borders, jd->nborders * sizeof(*bits));
	return gs_job_sync_queue(job, d, GS_QUEUE_DOWN);
}

/* Puts the words together that shares have in common, when all shares are there. */
static gs_status
join_borders(gs_device_job *job)
{
	unsigned	first[GS_MAX_DEVICES];
	unsigned	count = 0;

	for (unsigned d = 0; d < job->ndevices; d++)
	{
		first[d] = count;
		count += job->devices[d].nborders;
		GS_TRY(download_borders(job, d, job->border_bits + first[d]));
	}
	for (unsigned i = 0; i < job->nborders; i++)
		*(uint64_t *) gs_span_at(job->args.equal, job->borders[i].word * sizeof(uint64_t)) = 0;
	for (unsigned i = 0; i < job->nborders; i++)
	{
		const gs_border_word *border = &job->borders[i];

		*(uint64_t *) gs_span_at(job->args.equal, border->word * sizeof(uint64_t)) |=
			job->border_bits[first[border->device] + border->slot];
	}
	return GS_OK;
}

/* Marks all rows but the first as equal to the one before. */
static void
mark_all_equal(gs_device_job *job)
{
	gs_span		equal = job->args.equal;
	uint64_t	words = (job->args.nrows + 63) / 64;
	uint64_t	bytes = words * sizeof(uint64_t);
	uint64_t	part_bytes = UINT64_C(1) << equal.shift;

	for (uint64_t offset = 0; offset < bytes; offset += part_bytes)
		memset(gs_span_at(equal, offset), 0xff,
			   bytes - offset < part_bytes ? bytes - offset : part_bytes);
	*(uint64_t *) gs_span_at(equal, 0) &= ~UINT64_C(1);
	*(uint64_t *) gs_span_at(equal, bytes - sizeof(uint64_t)) &=
		gs_low_mask((unsigned) (job->args.nrows - 64 * (words - 1)));
}

/* Makes the result if the key has no bits: rows are in order. */
gs_status
gs_result_identity(gs_device_job *job)
{
	unsigned	id_bytes = job->args.id_bytes;
	uint64_t	chunk = job->options.bucket_rows > 0 ? job->options.bucket_rows : COUNTED_ROWS;
	uint64_t	nchunks;

	for (unsigned d = 0; d < job->ndevices; d++)
		while (chunk * id_bytes > gs_job_available(job, d) / 4 && chunk > 1)
			chunk /= 2;
	nchunks = (job->args.nrows + chunk - 1) / chunk;
	job->nshares = 0;
	GS_TRY(gs_result_begin(job, (unsigned) nchunks));
	GS_TRY(gs_proof_begin_identity(job));
	for (uint64_t i = 0; i < nchunks; i++)
	{
		unsigned	d = (unsigned) (i % job->ndevices);
		uint64_t	begin = i * chunk;
		uint64_t	end = begin + chunk < job->args.nrows ? begin + chunk : job->args.nrows;
		gs_job_device *jd = &job->devices[d];

		if (jd->pairs.ids == NULL)
			jd->pairs.ids = gs_job_alloc(job, d, chunk * id_bytes);
		if (jd->pairs.ids == NULL)
			return gs_job_fail(job, GS_NO_SPACE, "not enough device memory");
		GS_TRY(gs_job_follow(job, d, GS_QUEUE_WORK, d, GS_QUEUE_DOWN));
		GS_DO(job, d, count_up, GS_QUEUE_WORK, jd->pairs.ids, id_bytes, begin, end - begin);
		GS_TRY(gs_proof_sorted(job, d, (gs_pairs) {NULL, jd->pairs.ids}, (gs_pairs) {NULL, NULL},
							   end - begin));
		GS_TRY(gs_job_follow(job, d, GS_QUEUE_DOWN, d, GS_QUEUE_WORK));
		GS_TRY(download_ids(job, d, (unsigned) i, begin, end, jd->pairs.ids));
	}
	if (job->args.equal.parts != NULL)
		mark_all_equal(job);
	job->result->presorted = true;
	return gs_proof_end_identity(job);
}

static gs_status
wait_entry(gs_device_job *job, gs_ready *ready)
{
	gs_event_ref event = ready->event;

	ready->event = NULL;
	return gs_job_sync(job, ready->device, event);
}

static bool
entry_done(const gs_device_job *job, const gs_ready *ready)
{
	gs_device  *device = job->devices[ready->device].device;

	return device->ops->done(device, ready->event);
}

/*
 * Waits for the next entry, and takes those behind it that are done as well.  The last one is
 * reported only when the bitmap is complete.
 */
gs_status
gs_result_wait(gs_device_job *job, uint64_t *ready)
{
	uint64_t	known = *ready;

	while (job->next_ready < job->nready &&
		   (*ready <= known || entry_done(job, &job->ready[job->next_ready])))
	{
		gs_ready   *next = &job->ready[job->next_ready];

		GS_TRY(wait_entry(job, next));
		if (++job->next_ready == job->nready && job->args.equal.parts != NULL)
			GS_TRY(join_borders(job));
		*ready = next->end;
	}
	return GS_OK;
}
