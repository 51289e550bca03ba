/*
 * gs_device_buckets.c
 *		Sorting the buckets of a round, and sending each on its way.
 *
 * A device's buckets are sorted in the order of their positions, by turns on two
 * queues so that the end of one sort and the beginning of the next overlap.
 * Each is downloaded as soon as it is sorted, while others still are.  Devices
 * take turns in being given work, so that none of them waits for the host.
 *
 * A key that goes on behind its first slice is not in order yet: then buckets are
 * only sorted, into the memory they are in, and gs_device_ties.c takes over.
 */
#include "gs_device_job.h"

/* Buckets of the shares of a round, one share a device. */
typedef struct round_buckets
{
	const gs_bucket *first[GS_MAX_DEVICES];
	unsigned	count[GS_MAX_DEVICES];
	unsigned	most;			/* of one device */
} round_buckets;

static void
find_buckets(const gs_device_job *job, unsigned round, round_buckets *found)
{
	const gs_bucket *buckets;
	unsigned	nbuckets = gs_plan_buckets(job->plan, &buckets);

	*found = (round_buckets) {.most = 0};
	for (unsigned i = 0; i < nbuckets; i++)
	{
		unsigned	d = buckets[i].share % job->ndevices;

		if (buckets[i].share / job->ndevices != round)
			continue;
		if (found->count[d]++ == 0)
			found->first[d] = &buckets[i];
		if (found->count[d] > found->most)
			found->most = found->count[d];
	}
}

static gs_pairs
pairs_at(const gs_device_job *job, gs_pairs pairs, uint64_t row)
{
	return (gs_pairs) {pairs.keys + row, (char *) pairs.ids + row * job->args.id_bytes};
}

/* Put sorted rows back to where they came from. */
static gs_status
copy_back(gs_device_job *job, unsigned d, gs_queue queue, gs_pairs to, gs_pairs from,
		  uint64_t nrows)
{
	gs_device  *device = job->devices[d].device;

	GS_DO(job, d, copy, queue, to.keys, device, from.keys, nrows * sizeof(uint64_t));
	GS_DO(job, d, copy, queue, to.ids, device, from.ids, nrows * job->args.id_bytes);
	return GS_OK;
}

/* Mark equal neighbours of a bucket; `tied`: its first row has one before it. */
static gs_status
mark_bucket(gs_device_job *job, unsigned d, gs_queue queue, const gs_bucket *bucket,
			const uint64_t *keys)
{
	const uint64_t *cuts = gs_plan_cuts(job->plan);
	uint64_t	bit = bucket->begin - (cuts[bucket->share] & ~UINT64_C(63));
	bool		tied = bucket->begin == cuts[bucket->share] &&
		gs_plan_cut_ties(job->plan, bucket->share);

	GS_DO(job, d, mark_equal, queue, keys, NULL, bucket->end - bucket->begin, tied,
		  (unsigned) (bit % 32), (uint32_t *) job->devices[d].bitmap + bit / 32);
	return GS_OK;
}

/* Sort a bucket, the ordinal'th of its device in this round. */
static gs_status
sort_bucket(gs_device_job *job, unsigned d, const gs_bucket *bucket, unsigned ordinal)
{
	gs_job_device *jd = &job->devices[d];
	gs_queue	queue = ordinal & 1 ? GS_QUEUE_WORK2 : GS_QUEUE_WORK;
	uint64_t	row = bucket->begin - gs_plan_cuts(job->plan)[bucket->share];
	uint64_t	nrows = bucket->end - bucket->begin;
	gs_pairs	pairs = pairs_at(job, jd->pairs, row);
	gs_pairs	spare = pairs_at(job, jd->spare, row);
	bool		wide = job->cursor.bits_left > 0;
	bool		in_spare = false;

	gs_job_span_begin(job, d, queue, "sort");
	if (bucket->bits > 0 && nrows > 1)
		GS_DO(job, d, sort, queue, pairs, spare, job->args.id_bytes, nrows, bucket->bits,
			  jd->sort_temp[ordinal & 1], &in_spare);
	if (wide && in_spare)
		GS_TRY(copy_back(job, d, queue, pairs, spare, nrows));
	gs_job_span_end(job, d, queue);
	if (wide)
		return GS_OK;
	if (jd->bitmap != NULL)
		GS_TRY(mark_bucket(job, d, queue, bucket, in_spare ? spare.keys : pairs.keys));
	return gs_result_download(job, d, queue, bucket, in_spare ? spare.ids : pairs.ids);
}

/* Prepare a device for the sorting of its share. */
static gs_status
begin_share(gs_device_job *job, unsigned d, unsigned share, unsigned nbuckets)
{
	const uint64_t *cuts = gs_plan_cuts(job->plan);

	if (job->devices[d].bitmap != NULL)
		GS_DO(job, d, clear, GS_QUEUE_WORK, job->devices[d].bitmap,
			  (cuts[share + 1] - (cuts[share] & ~UINT64_C(63)) + 63) / 64 * sizeof(uint64_t));
	return nbuckets > 1 ? gs_job_follow(job, d, GS_QUEUE_WORK2, d, GS_QUEUE_WORK) : GS_OK;
}

/* Sort the shares of a round. */
gs_status
gs_buckets_round(gs_device_job *job, unsigned round)
{
	unsigned	first_share = round * job->ndevices;
	round_buckets buckets;

	find_buckets(job, round, &buckets);
	for (unsigned d = 0; d < job->ndevices; d++)
		GS_TRY(begin_share(job, d, first_share + d, buckets.count[d]));
	for (unsigned i = 0; i < buckets.most; i++)
	{
		GS_TRY(gs_job_poll(job));
		for (unsigned d = 0; d < job->ndevices; d++)
			if (i < buckets.count[d])
				GS_TRY(sort_bucket(job, d, buckets.first[d] + i, i));
	}
	if (job->cursor.bits_left > 0)
	{
		GS_TRY(gs_ties_round(job, round));
		for (unsigned d = 0; d < job->ndevices; d++)
			for (unsigned i = 0; i < buckets.count[d]; i++)
			{
				const gs_bucket *bucket = buckets.first[d] + i;
				uint64_t	row = bucket->begin - gs_plan_cuts(job->plan)[bucket->share];

				GS_TRY(gs_result_download(job, d, GS_QUEUE_WORK, bucket,
										  pairs_at(job, job->devices[d].pairs, row).ids));
			}
	}
	for (unsigned d = 0; d < job->ndevices && job->args.equal.parts != NULL; d++)
		GS_TRY(gs_result_bitmap(job, d, first_share + d));
	return GS_OK;
}
