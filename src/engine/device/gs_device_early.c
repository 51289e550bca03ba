/*
 * gs_device_early.c
 *		Sorting buckets by the leading bits of their keys only.
 *
 * The rows of a bucket of m rows that are spread over its key space differ in the first log2(m)
 * bits and a few more.  To sort them by all of 56 bits is to move every row seven times; by the 32
 * in front four times, and then the few neighbours that agree in those are put in order where they
 * are, by one pass over the keys.  This is what the hybrid radix sort gains by its local sorts
 * (section 4.1), with runs in the place of small buckets.  Where some keys are more frequent than
 * others there are longer runs, which are sorted by a thread block each.
 *
 * A sample tells whether rows are spread: keys in clusters tie in far more bits than chance would
 * have it, while equal keys do not matter.  A sample can be wrong, so sort_runs() says of each
 * bucket whether runs were too long for it, and then the bucket is sorted again by all bits.  That
 * costs such a bucket half as much again.  If it happens to the first bucket of a device, the other
 * buckets are sorted by all bits from the start.  Waiting for the answer costs the host a look at
 * each device when all sorts of a round are done; downloads go on meanwhile.
 */
#include <stdlib.h>

#include "engine/device/gs_bucket_private.h"
#include "engine/device/gs_device_private.h"

/*
 * A bucket is sorted by at least so many bits beyond log2(rows): then one row in 2^7 has a
 * neighbour that agrees in all of them.
 */
#define MARGIN_BITS			7

/* So many bits, in passes of 8, must be saved to pay for the pass over runs. */
#define MIN_SAVED_BITS		16

#define MIN_SAMPLE_ROWS		64
#define MAX_SAMPLE_ROWS		1024
#define ROWS_A_SAMPLE		4096

/*
 * One in so many sampled neighbours may agree in too many bits, by chance or as there are a few
 * repeats.
 */
#define MAX_CLOSE_SHARE		256

static int
compare_keys(const void *a, const void *b)
{
	uint64_t	x = *(const uint64_t *) a;
	uint64_t	y = *(const uint64_t *) b;

	return x < y ? -1 : x > y;
}

/* Returns the first section of a row, read from host memory. */
static uint64_t
read_key(const gs_device_job *job, uint64_t row)
{
	gs_plane_rows planes[GS_SECTION_MAX_BITS];

	for (unsigned i = 0; i < job->section.npieces; i++)
	{
		const gs_job_plane *p = &job->planes[job->section.pieces[i].field->plane];

		planes[i] = (gs_plane_rows) {p->host_words, p->nulls};
	}
	return gs_row_section(&job->section, planes, row);
}

/* Returns how many bits of the key so many rows are expected to differ in, in whole digits. */
static unsigned
telling_bits(uint64_t rows)
{
	return (gs_bit_width(rows) + MARGIN_BITS + GS_DEVICE_DIGIT_BITS - 1) /
		GS_DEVICE_DIGIT_BITS * GS_DEVICE_DIGIT_BITS;
}

/* Returns how many keys of a job tell whether they are spread. */
static uint64_t
sample_rows(const gs_device_job *job)
{
	uint64_t	count = job->args.nrows / ROWS_A_SAMPLE;

	count = count < MIN_SAMPLE_ROWS ? MIN_SAMPLE_ROWS : count;
	return count > MAX_SAMPLE_ROWS ? MAX_SAMPLE_ROWS : count;
}

/* Returns whether keys of `width` bits look as if the job's were spread; puts them in order. */
static bool
keys_are_spread(const gs_device_job *job, uint64_t *keys, uint64_t count, unsigned width)
{
	unsigned	bits = telling_bits(job->args.nrows);
	unsigned	close = 0;

	if (bits >= width)
		return false;
	qsort(keys, count, sizeof(keys[0]), compare_keys);
	for (uint64_t i = 1; i < count; i++)
		close += keys[i] != keys[i - 1] && (keys[i] ^ keys[i - 1]) >> (width - bits) == 0;
	return close <= count / MAX_CLOSE_SHARE;
}

void
gs_early_choose(gs_device_job *job)
{
	uint64_t	keys[MAX_SAMPLE_ROWS];
	uint64_t	count = sample_rows(job);

	job->stop_early = false;
	if (job->args.nrows < count || telling_bits(job->args.nrows) >= job->keys.width)
		return;
	for (uint64_t i = 0; i < count; i++)
		keys[i] = read_key(job, job->args.nrows / count * i);
	job->stop_early = keys_are_spread(job, keys, count, job->keys.width);
}

/* Does so by a sample of words that are the keys; puts some of these where others were. */
void
gs_early_choose_by(gs_device_job *job, uint64_t *keys, uint64_t nkeys)
{
	uint64_t	count = sample_rows(job);
	uint64_t	min = UINT64_MAX;
	uint64_t	max = 0;

	job->stop_early = false;
	if (nkeys < count)
		return;
	for (uint64_t i = 0; i < nkeys; i++)
	{
		min = keys[i] < min ? keys[i] : min;
		max = keys[i] > max ? keys[i] : max;
	}
	for (uint64_t i = 0; i < count; i++)
		keys[i] = keys[nkeys / count * i] - min;
	job->stop_early = keys_are_spread(job, keys, count, gs_bit_width(max - min));
}

/* Returns the lowest bit that a bucket is to be sorted by. */
unsigned
gs_early_low_bit(const gs_device_job *job, const gs_bucket *bucket)
{
	unsigned	bits = telling_bits(bucket->end - bucket->begin);

	return job->stop_early && bucket->bits >= bits + MIN_SAVED_BITS ? bucket->bits - bits : 0;
}

/* Begins a round, of which no bucket is known to be unsorted. */
gs_status
gs_early_begin_round(gs_device_job *job)
{
	job->stopped_early = false;
	for (unsigned d = 0; d < job->ndevices && job->stop_early; d++)
		GS_DO(job, d, clear, GS_QUEUE_WORK, job->devices[d].tables->unsorted,
			  sizeof(job->devices[d].tables->unsorted));
	return GS_OK;
}

/* Finds out which buckets are unsorted, of those that the first queue has sorted. */
gs_status
gs_early_look(gs_device_job *job)
{
	for (unsigned d = 0; d < job->ndevices; d++)
	{
		gs_job_device *jd = &job->devices[d];

		GS_DO(job, d, download, GS_QUEUE_WORK, jd->unsorted, jd->tables->unsorted,
			  sizeof(jd->unsorted));
	}
	for (unsigned d = 0; d < job->ndevices; d++)
		GS_TRY(gs_job_sync_queue(job, d, GS_QUEUE_WORK));
	return GS_OK;
}
