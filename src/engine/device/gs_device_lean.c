/*
 * gs_device_lean.c
 *		A guess in little memory: words that land, rows that are parked.
 *
 * A guess (gs_device_guess.c) that keeps words beside the pairs, and has spare memory for as many
 * pairs, takes three times the memory of the pairs.  A *lean* one needs little more than these:
 *
 *	words		*land* in a piece of memory that is used again as soon as they were scattered: one
 *				half of it is filled while what is in the other is scattered
 *	spares		one for each of the queues that sort, of the size of a bucket; the landing serves as
 *				these, once all words have been there
 *	pairs		all other memory
 *
 * Rows that still find no room are *parked*: the scatter stores them in host memory, straight over
 * the link, which has nothing else to bring down yet.  These are the last buckets of each device.
 * When the first ones are sorted and have been downloaded, the parked ones are uploaded to their
 * places, one by one, while others are sorted.  So a row that is parked crosses the link down and
 * up once more, with 8 bytes and those of its id, and keys are read but once, whatever the memory;
 * in rounds they would be read for each round, and to be counted.
 *
 * The memory of pairs is a ring then.  What is put into it waits for the bucket before to be
 * downloaded and checked, so a device sorts a few buckets at least between two that have the same
 * place.  If there is no room for as many, or none in host memory, or the guess turns out wrong,
 * words are uploaded again, and the sort goes on as if there had not been a guess.
 *
 * Parked rows are in the sums by which the result is proven, as all others are.
 */
#include <string.h>

#include "engine/device/gs_bucket_private.h"
#include "engine/device/gs_device_private.h"

/* The least buckets that memory should have room for: small ones leave more of it to pairs. */
#define BUCKETS_IN_MEMORY	32

/* So many buckets, at least, are sorted between two that have the same place. */
#define MIN_DISTANCE		4

#define GROUP_BYTES			(GS_GROUP_SEGMENTS * GS_SEGMENT_ROWS * sizeof(uint64_t))

static size_t
aligned(size_t bytes)
{
	return (bytes + 255) / 256 * 256;
}

/* Returns the bytes of a spare for so many rows: keys, and ids behind them. */
static size_t
spare_bytes(const gs_device_job *job, uint64_t nrows)
{
	return aligned(nrows * sizeof(uint64_t)) + aligned(nrows * job->args.id_bytes);
}

/* Chooses how many rows a bucket should have. */
void
gs_lean_choose_rows(gs_device_job *job)
{
	job->lean_rows = gs_memory_bucket_rows(job);
	for (unsigned d = 0; d < job->ndevices; d++)
	{
		uint64_t	rows = gs_job_available(job, d) / gs_lean_pair_bytes(job) / BUCKETS_IN_MEMORY;

		job->lean_rows = rows < job->lean_rows ? rows : job->lean_rows;
	}
}

/* Returns the most rows that a bucket may have, as a sample says. */
uint64_t
gs_lean_most_rows(const gs_device_job *job)
{
	return job->lean_rows + job->lean_rows / 8;
}

/* Returns the bytes of a half of a landing. */
uint64_t
gs_lean_half_bytes(const gs_device_job *job)
{
	uint64_t	spare = spare_bytes(job, job->lean_rows + job->lean_rows / 4);

	return spare < GROUP_BYTES ? GROUP_BYTES : spare;
}

/* Takes memory for words to land in, and to scatter them; returns false if there is none. */
bool
gs_lean_take_landing(gs_device_job *job, unsigned d)
{
	gs_job_device *jd = &job->devices[d];

	jd->half_segments = gs_lean_half_bytes(job) / GROUP_BYTES * GS_GROUP_SEGMENTS;
	jd->landing_bytes = 2 * gs_lean_half_bytes(job);
	jd->landing = gs_job_alloc(job, d, jd->landing_bytes);
	jd->scatter_temp = gs_job_alloc(job, d, jd->device->ops->scatter_temp_bytes(
		jd->device, gs_job_rows(job, jd->first_segment, 2 * jd->half_segments)));
	jd->half_scattered[0] = jd->half_scattered[1] = NULL;
	return jd->landing != NULL && jd->scatter_temp != NULL;
}

/* Gives that memory back, or what there is of it. */
void
gs_lean_give_landing(gs_device_job *job, unsigned d)
{
	gs_job_device *jd = &job->devices[d];

	gs_job_free(job, d, jd->landing);
	gs_job_free(job, d, jd->scatter_temp);
	jd->landing = NULL;
	jd->scatter_temp = NULL;
	for (unsigned i = 0; i < 2; i++)
		jd->queue_spares[i] = (gs_pairs) {NULL, NULL};
}

/* Returns where the words of a segment land. */
uint64_t *
gs_lean_land(const gs_device_job *job, unsigned d, uint64_t segment)
{
	const gs_job_device *jd = &job->devices[d];
	uint64_t	slot = (segment - jd->first_segment) % (2 * jd->half_segments);

	return (uint64_t *) jd->landing + (slot << GS_SEGMENT_SHIFT);
}

/* Returns whether a segment is the first one of a half, where a group of segments has to end. */
bool
gs_lean_half_begins(const gs_device_job *job, unsigned d, uint64_t segment)
{
	const gs_job_device *jd = &job->devices[d];

	return (segment - jd->first_segment) % jd->half_segments == 0;
}

static void
release_half(gs_device_job *job, unsigned d, unsigned half)
{
	gs_job_device *jd = &job->devices[d];

	if (jd->half_scattered[half] != NULL)
		jd->device->ops->release(jd->device, jd->half_scattered[half]);
	jd->half_scattered[half] = NULL;
}

/*
 * Has uploads from a segment on, which is the next one, wait until what was at their place has been
 * scattered.  Words that land before there is a guess fill both halves at most, and are scattered
 * together: the first half is found to be scattered when it is needed again.
 */
gs_status
gs_lean_await(gs_device_job *job, unsigned d, uint64_t segment)
{
	gs_job_device *jd = &job->devices[d];
	unsigned	half = (segment - jd->first_segment) / jd->half_segments % 2;

	if (job->guess == NULL || segment == jd->first_segment || !gs_lean_half_begins(job, d, segment))
		return GS_OK;
	GS_DO(job, d, record, GS_QUEUE_WORK, &jd->half_scattered[!half]);
	if (half == 0 && jd->half_scattered[half] == NULL)
		GS_DO(job, d, record, GS_QUEUE_WORK, &jd->half_scattered[half]);
	if (jd->half_scattered[half] != NULL)
		GS_DO(job, d, wait, GS_QUEUE_UP, jd->half_scattered[half]);
	release_half(job, d, half);
	return GS_OK;
}

/* Returns how many rows a device has room for, beside what is needed to sort them. */
uint64_t
gs_lean_capacity(const gs_device_job *job, unsigned d)
{
	gs_device  *device = job->devices[d].device;
	uint64_t	rows = job->args.nrows / job->ndevices;
	uint64_t	most_rows = job->devices[d].landing_bytes / 2 / gs_lean_pair_bytes(job);
	size_t		available = gs_job_available(job, d);
	size_t		other = GS_LEAN_SMALL_BYTES +
		2 * device->ops->sort_temp_bytes(device, job->args.id_bytes, most_rows);

	if (job->args.equal.parts != NULL)
		other += (rows + rows / 4) / 8;
	return available > other ? (available - other) / gs_lean_pair_bytes(job) : 0;
}

/* Divides up the host memory for parked rows; returns false if that is too little. */
static bool
take_park(gs_device_job *job)
{
	gs_guess   *guess = job->guess;
	uint64_t	rows = job->args.park_bytes / gs_lean_pair_bytes(job) / 64 * 64;

	if (guess->end - guess->bases[job->ndevices] > rows)
		return false;
	guess->parked.keys = job->args.park;
	guess->parked.ids = rows == 0 ? NULL : guess->parked.keys + rows;
	return true;
}

/*
 * Takes memory for all regions; returns false if there is not enough.  Parked rows may come to
 * where others were before, and to what is left of the memory.
 */
bool
gs_lean_take(gs_device_job *job)
{
	const gs_guess *guess = job->guess;

	for (unsigned d = 0; d < job->ndevices; d++)
		job->devices[d].pair_rows = guess->bases[d + 1] - guess->bases[d];
	for (unsigned b = 0; b < guess->nbins; b++)
		if (guess->bins[b].parked)
			job->devices[guess->bins[b].share].pair_rows =
				gs_lean_capacity(job, guess->bins[b].share);
	for (unsigned d = 0; d < job->ndevices; d++)
		if (!gs_memory_take_pairs(job, d, job->devices[d].pair_rows, &job->devices[d].pairs))
			return false;
	return take_park(job);
}

/* Divides a landing up into a spare for each queue; returns false if it is too small. */
static bool
make_spares(gs_device_job *job, unsigned d, uint64_t nrows)
{
	gs_job_device *jd = &job->devices[d];
	size_t		bytes = spare_bytes(job, nrows);

	if (2 * bytes > jd->landing_bytes)
		return false;
	for (unsigned i = 0; i < 2; i++)
	{
		char	   *spare = jd->landing + i * bytes;

		jd->queue_spares[i].keys = (uint64_t *) spare;
		jd->queue_spares[i].ids = spare + aligned(nrows * sizeof(uint64_t));
	}
	return true;
}

/*
 * Returns the last one of a device's buckets before this one, its ordinal'th, that has had some of
 * its place; -1: there is none.
 */
static int
bucket_before(const gs_device_job *job, const gs_bucket *bucket, unsigned ordinal)
{
	const gs_guessed_bin *bin = gs_guess_bin(job, bucket);
	uint64_t	end = bin->row + (bucket->end - bucket->begin);

	for (unsigned i = ordinal; i-- > 0;)
	{
		const gs_bucket *other = bucket - (ordinal - i);
		const gs_guessed_bin *b = gs_guess_bin(job, other);
		uint64_t	rows = b->parked ? other->end - other->begin
			: b->end - job->guess->begins[0][b - job->guess->bins];

		if (b->row < end && b->row + rows > bin->row)
			return (int) i;
	}
	return -1;
}

/*
 * Gives the parked ones of a device's buckets places; returns false if buckets would have to share
 * one that follow each other too closely.
 */
static bool
place_buckets(gs_device_job *job, unsigned d, const gs_bucket *buckets, unsigned count)
{
	const gs_guess *guess = job->guess;
	uint64_t	next = guess->bases[d + 1] - guess->bases[d];

	for (unsigned i = 0; i < count; i++)
	{
		uint64_t	rows = buckets[i].end - buckets[i].begin;
		gs_guessed_bin *bin = gs_guess_bin(job, &buckets[i]);

		if (!bin->parked)
			continue;
		if (next + rows > job->devices[d].pair_rows)
			next = 0;
		bin->row = next;
		next += rows;
		if (next > job->devices[d].pair_rows ||
			bucket_before(job, &buckets[i], i) > (int) i - MIN_DISTANCE)
			return false;
		job->result->parked_rows += rows;
	}
	return true;
}

/*
 * Makes all ready to sort, now that words have been scattered and it is known how many rows buckets
 * have.  Returns false if there is no room for that.
 */
bool
gs_lean_hold(gs_device_job *job)
{
	const gs_bucket *buckets;
	unsigned	nbuckets = gs_plan_buckets(job->plan, &buckets);
	unsigned	first = 0;

	for (unsigned d = 0; d < job->ndevices; d++)
	{
		uint64_t	most = 1;
		unsigned	end = first;

		release_half(job, d, 0);
		release_half(job, d, 1);
		for (; end < nbuckets && buckets[end].share == d; end++)
			if ((buckets[end].bits > 0 || job->ndevices > 1) &&
				buckets[end].end - buckets[end].begin > most)
				most = buckets[end].end - buckets[end].begin;
		if (!make_spares(job, d, most) || !place_buckets(job, d, buckets + first, end - first))
			return false;
		first = end;
	}
	return true;
}

/* Uploads the rows of a device's ordinal'th bucket for a queue to sort, if it is parked. */
gs_status
gs_lean_fetch(gs_device_job *job, unsigned d, gs_queue queue, const gs_bucket *bucket,
			  unsigned ordinal)
{
	const gs_guess *guess = job->guess;
	gs_job_device *jd = &job->devices[d];
	const gs_guessed_bin *bin = gs_guess_bin(job, bucket);
	unsigned	id_bytes = job->args.id_bytes;
	int			before = bucket_before(job, bucket, ordinal);
	uint64_t	to = bin->row;
	const gs_bucket *buckets;

	if (!bin->parked)
		return GS_OK;
	gs_plan_buckets(job->plan, &buckets);
	if (before >= 0)
	{
		/* the check of the bucket behind it has read its last row */
		GS_DO(job, d, wait, GS_QUEUE_UP, jd->checked[before + 1]);
		GS_DO(job, d, wait, GS_QUEUE_UP,
			  job->ready[bucket - buckets - (ordinal - (unsigned) before)].event);
	}
	gs_job_span_begin(job, d, GS_QUEUE_UP, "upload");
	for (unsigned from = 0; from < job->ndevices; from++)
	{
		unsigned	b = (unsigned) (bin - guess->bins);
		uint64_t	row = guess->begins[from][b] - guess->bases[job->ndevices];
		uint64_t	nrows = gs_guess_bin_rows(guess, from, b);

		if (nrows == 0)
			continue;
		GS_DO(job, d, upload, GS_QUEUE_UP, jd->pairs.keys + to, guess->parked.keys + row,
			  nrows * sizeof(uint64_t));
		GS_DO(job, d, upload, GS_QUEUE_UP, (char *) jd->pairs.ids + to * id_bytes,
			  (char *) guess->parked.ids + row * id_bytes, nrows * id_bytes);
		to += nrows;
	}
	gs_job_span_end(job, d, GS_QUEUE_UP);
	return gs_job_follow(job, d, queue, d, GS_QUEUE_UP);
}

/* Gives up a lean guess, whose words are lost, when devices are done with it. */
void
gs_lean_end(gs_device_job *job)
{
	gs_job_plane *p = &job->planes[0];

	for (unsigned d = 0; d < job->ndevices; d++)
	{
		release_half(job, d, 0);
		release_half(job, d, 1);
		gs_lean_give_landing(job, d);
	}
	memset(p->words, 0, p->room * sizeof(*p->words));
	p->uploaded = 0;
	job->result->parked_rows = 0;
	job->overlap = false;
	job->lean = false;
	job->words_lost = true;
}
