/*
 * gs_device_buckets.c
 *		Sorting the buckets of a round, and downloading each as soon as it is sorted.
 *
 * A device's buckets are sorted in the order of their positions, by turns on two queues, so that
 * the end of one sort and the beginning of the next overlap.  Each is downloaded as soon as it is
 * sorted, while others still are being sorted.  Devices take turns in being given work, so that
 * none of them waits for the host.  Where keys are spread, buckets are sorted by their leading bits
 * (gs_device_early.c), and the few that come out unsorted are sorted and downloaded once more.
 *
 * If the key goes on behind its first section, buckets are not in their final order yet.  Then they
 * are only sorted, and moved back to the memory they were in, and gs_device_ties.c takes over.
 */
#include "engine/device/gs_bucket_private.h"
#include "engine/device/gs_device_private.h"

/* So many buckets of each device are begun before the first is looked at. */
#define TRIED_BUCKETS	2

/* If some are parked, a bucket is marked and checked when so many behind it are being sorted. */
#define CLOSED_BEHIND	TRIED_BUCKETS

/* The buckets of a round's shares; each device has one share. */
typedef struct round_buckets
{
	const gs_bucket *first[GS_MAX_DEVICES];
	unsigned	count[GS_MAX_DEVICES];
	unsigned	most;			/* most buckets of one device */
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

/* Copies sorted rows back to where they came from. */
static gs_status
copy_back(gs_device_job *job, unsigned d, gs_queue queue, gs_pairs to, gs_pairs from,
		  uint64_t nrows)
{
	gs_device  *device = job->devices[d].device;

	GS_DO(job, d, copy, queue, to.keys, device, from.keys, nrows * sizeof(uint64_t));
	GS_DO(job, d, copy, queue, to.ids, device, from.ids, nrows * job->args.id_bytes);
	return GS_OK;
}

/* Returns where the rows of a bucket are, sorted or not. */
static gs_pairs
bucket_pairs(const gs_device_job *job, unsigned d, const gs_bucket *bucket, bool in_spare)
{
	const gs_job_device *jd = &job->devices[d];
	uint64_t	row = job->guess != NULL ? gs_guess_bin(job, bucket)->row
		: bucket->begin - gs_plan_cuts(job->plan)[bucket->share];

	return pairs_at(job, in_spare ? jd->spare : jd->pairs, row);
}

/* Copies a bucket out of a queue's spare if it is there, which is for others to be sorted with. */
static gs_status
leave_spare(gs_device_job *job, unsigned d, gs_queue queue, const gs_bucket *bucket,
			bool *in_spare)
{
	if (!job->overlap || !*in_spare)
		return GS_OK;
	*in_spare = false;
	return copy_back(job, d, queue, bucket_pairs(job, d, bucket, false),
					 job->devices[d].queue_spares[queue == GS_QUEUE_WORK2],
					 bucket->end - bucket->begin);
}

/*
 * Puts a bucket in order, by its bits from low_bit up.  It is the ordinal'th of its device in this
 * round.  jd->in_spare[ordinal] says where its rows are, before and afterwards.
 */
static gs_status
order_bucket(gs_device_job *job, unsigned d, gs_queue queue, const gs_bucket *bucket,
			 unsigned ordinal, unsigned low_bit)
{
	gs_job_device *jd = &job->devices[d];
	uint64_t	nrows = bucket->end - bucket->begin;
	bool	   *in_spare = &jd->in_spare[ordinal];
	gs_pairs	pairs = bucket_pairs(job, d, bucket, false);
	gs_pairs	spare = job->overlap ? jd->queue_spares[queue == GS_QUEUE_WORK2]
		: bucket_pairs(job, d, bucket, true);
	bool		moved = false;

	if (bucket->bits == 0 || nrows < 2)
		return leave_spare(job, d, queue, bucket, in_spare);
	GS_DO(job, d, sort, queue, *in_spare ? spare : pairs, *in_spare ? pairs : spare,
		  job->args.id_bytes, nrows, low_bit, bucket->bits,
		  jd->sort_temp[queue == GS_QUEUE_WORK2], &moved);
	*in_spare = moved != *in_spare;
	GS_TRY(leave_spare(job, d, queue, bucket, in_spare));
	if (low_bit == 0)
		return GS_OK;
	job->stopped_early = true;
	GS_DO(job, d, sort_runs, queue, *in_spare ? spare : pairs, job->args.id_bytes, nrows, low_bit,
		  jd->sort_temp[queue == GS_QUEUE_WORK2], &jd->tables->unsorted[ordinal]);
	return GS_OK;
}

/* Sorts a bucket and, if that is all, begins to download it. */
static gs_status
sort_bucket(gs_device_job *job, unsigned d, const gs_bucket *bucket, unsigned ordinal)
{
	gs_job_device *jd = &job->devices[d];
	gs_queue	queue = ordinal & 1 ? GS_QUEUE_WORK2 : GS_QUEUE_WORK;

	jd->in_spare[ordinal] = false;
	if (job->lean)
		GS_TRY(gs_lean_fetch(job, d, queue, bucket, ordinal));
	gs_job_span_begin(job, d, queue, "sort");
	if (job->guess != NULL)
		GS_TRY(gs_guess_gather(job, d, queue, bucket, &jd->in_spare[ordinal]));
	GS_TRY(order_bucket(job, d, queue, bucket, ordinal, gs_early_low_bit(job, bucket)));
	gs_job_span_end(job, d, queue);
	if (job->cursor.bits_left > 0)
		return GS_OK;
	return gs_result_download(job, d, queue, bucket,
							  bucket_pairs(job, d, bucket, jd->in_spare[ordinal]).ids);
}

/* Sorts a bucket by all bits if its runs turned out to be too long. */
static gs_status
sort_unsorted(gs_device_job *job, unsigned d, const gs_bucket *bucket, unsigned ordinal)
{
	gs_job_device *jd = &job->devices[d];

	if (!jd->unsorted[ordinal])
		return GS_OK;
	job->result->resorted_rows += bucket->end - bucket->begin;
	gs_job_span_begin(job, d, GS_QUEUE_WORK, "sort");
	GS_TRY(order_bucket(job, d, GS_QUEUE_WORK, bucket, ordinal, 0));
	gs_job_span_end(job, d, GS_QUEUE_WORK);
	if (job->cursor.bits_left > 0)
		return GS_OK;
	return gs_result_download(job, d, GS_QUEUE_WORK, bucket,
							  bucket_pairs(job, d, bucket, jd->in_spare[ordinal]).ids);
}

/* Marks equal neighbours of a bucket. */
static gs_status
mark_bucket(gs_device_job *job, unsigned d, const gs_bucket *bucket, unsigned ordinal)
{
	const uint64_t *cuts = gs_plan_cuts(job->plan);
	const gs_job_device *jd = &job->devices[d];
	uint64_t	bit = bucket->begin - (cuts[bucket->share] & ~UINT64_C(63));
	bool		tied = bucket->begin == cuts[bucket->share] &&
		gs_plan_cut_ties(job->plan, bucket->share);

	GS_DO(job, d, mark_equal, GS_QUEUE_WORK,
		  bucket_pairs(job, d, bucket, jd->in_spare[ordinal]).keys, NULL,
		  bucket->end - bucket->begin, tied, (unsigned) (bit % 32),
		  (uint32_t *) jd->bitmap + bit / 32);
	return GS_OK;
}

/* Puts the rows of a bucket back to where they came from, for the next section of the key. */
static gs_status
return_bucket(gs_device_job *job, unsigned d, const gs_bucket *bucket, unsigned ordinal)
{
	if (!job->devices[d].in_spare[ordinal])
		return GS_OK;
	return copy_back(job, d, GS_QUEUE_WORK, bucket_pairs(job, d, bucket, false),
					 bucket_pairs(job, d, bucket, true), bucket->end - bucket->begin);
}

/*
 * Checks a bucket in its place, behind the last row of the bucket before.  If the key goes on,
 * buckets have been copied back to where they came from.
 */
static gs_status
check_bucket(gs_device_job *job, unsigned d, const gs_bucket *bucket, unsigned ordinal)
{
	const gs_job_device *jd = &job->devices[d];
	bool		whole = job->cursor.bits_left == 0;
	gs_pairs	before = {NULL, NULL};

	if (ordinal > 0)
	{
		const gs_bucket *last = bucket - 1;

		before = pairs_at(job, bucket_pairs(job, d, last, whole && jd->in_spare[ordinal - 1]),
						  last->end - last->begin - 1);
	}
	return gs_proof_sorted(job, d, bucket_pairs(job, d, bucket, whole && jd->in_spare[ordinal]),
						   before, bucket->end - bucket->begin);
}

/* Calls act() for buckets [first, end) of each device, devices by turns. */
static gs_status
for_buckets(gs_device_job *job, const round_buckets *buckets, unsigned first, unsigned end,
			gs_status (*act) (gs_device_job *, unsigned, const gs_bucket *, unsigned))
{
	for (unsigned i = first; i < end; i++)
	{
		GS_TRY(gs_job_poll(job));
		for (unsigned d = 0; d < job->ndevices; d++)
			if (i < buckets->count[d])
				GS_TRY(act(job, d, buckets->first[d] + i, i));
	}
	return GS_OK;
}

static gs_status
for_all_buckets(gs_device_job *job, const round_buckets *buckets,
				gs_status (*act) (gs_device_job *, unsigned, const gs_bucket *, unsigned))
{
	return for_buckets(job, buckets, 0, buckets->most, act);
}

static gs_status
download_bucket(gs_device_job *job, unsigned d, const gs_bucket *bucket, unsigned ordinal)
{
	return gs_result_download(job, d, GS_QUEUE_WORK, bucket,
							  bucket_pairs(job, d, bucket, false).ids);
}

/* Clears the devices' bitmaps, of the shares of a round. */
static gs_status
clear_bitmaps(gs_device_job *job, unsigned first_share)
{
	const uint64_t *cuts = gs_plan_cuts(job->plan) + first_share;

	for (unsigned d = 0; d < job->ndevices; d++)
		if (job->devices[d].bitmap != NULL)
			GS_DO(job, d, clear, GS_QUEUE_WORK, job->devices[d].bitmap,
				  (cuts[d + 1] - (cuts[d] & ~UINT64_C(63)) + 63) / 64 * sizeof(uint64_t));
	return GS_OK;
}

/* Has everything that comes on the first queue wait for the sorts on the second one. */
static gs_status
follow_second_queue(gs_device_job *job)
{
	for (unsigned d = 0; d < job->ndevices; d++)
		GS_TRY(gs_job_follow(job, d, GS_QUEUE_WORK, d, GS_QUEUE_WORK2));
	return GS_OK;
}

/*
 * Sorts all buckets of a round by as many bits as are needed.  If the first bucket of a device
 * comes out unsorted, the others are sorted by all bits; it is looked at while the second one is
 * being sorted.
 */
static gs_status
sort_buckets(gs_device_job *job, const round_buckets *buckets)
{
	unsigned	tried = 0;

	GS_TRY(gs_early_begin_round(job));
	for (unsigned d = 0; d < job->ndevices; d++)
		if (buckets->count[d] > 1)
			GS_TRY(gs_job_follow(job, d, GS_QUEUE_WORK2, d, GS_QUEUE_WORK));
	if (job->stop_early && buckets->most > TRIED_BUCKETS)
	{
		tried = TRIED_BUCKETS;
		GS_TRY(for_buckets(job, buckets, 0, tried, sort_bucket));
		GS_TRY(gs_early_look(job));
		for (unsigned d = 0; d < job->ndevices; d++)
			job->stop_early = job->stop_early && !job->devices[d].unsorted[0];
	}
	GS_TRY(for_buckets(job, buckets, tried, buckets->most, sort_bucket));
	return follow_second_queue(job);
}

static gs_status
check_buckets(gs_device_job *job, const round_buckets *buckets)
{
	for (unsigned d = 0; d < job->ndevices; d++)
		gs_job_span_begin(job, d, GS_QUEUE_WORK, "check");
	GS_TRY(for_all_buckets(job, buckets, check_bucket));
	for (unsigned d = 0; d < job->ndevices; d++)
		gs_job_span_end(job, d, GS_QUEUE_WORK);
	return GS_OK;
}

static bool
any_unsorted(const gs_device_job *job, const round_buckets *buckets)
{
	for (unsigned d = 0; d < job->ndevices; d++)
		for (unsigned i = 0; i < buckets->count[d]; i++)
			if (job->devices[d].unsorted[i])
				return true;
	return false;
}

/* Marks equal neighbours of buckets that are sorted by the whole key, and checks the buckets. */
static gs_status
finish_buckets(gs_device_job *job, const round_buckets *buckets, unsigned first_share)
{
	if (job->args.equal.parts != NULL)
	{
		GS_TRY(clear_bitmaps(job, first_share));
		GS_TRY(for_all_buckets(job, buckets, mark_bucket));
	}
	return check_buckets(job, buckets);
}

/*
 * Finds out which buckets came out unsorted, if they were sorted by some of their bits only, and
 * sorts them by all.  Returns in *again whether there are any.
 */
static gs_status
sort_again(gs_device_job *job, const round_buckets *buckets, bool *again)
{
	*again = false;
	if (!job->stopped_early)
		return GS_OK;
	GS_TRY(gs_early_look(job));
	*again = any_unsorted(job, buckets);
	return *again ? for_all_buckets(job, buckets, sort_unsorted) : GS_OK;
}

/* Sums the rows as they came, behind the first round's sorts; a guess has done so before. */
static gs_status
sum_given(gs_device_job *job, unsigned round)
{
	return round == 0 && job->guess == NULL ? gs_partition_sum(job) : GS_OK;
}

/*
 * Sorts buckets by the whole key.  Which of them came out unsorted is downloaded on the same link
 * as the ids, and arrives behind all ids that are on their way.  So that devices do not wait for
 * it, all buckets are marked and checked before the answer is there, and again if any was unsorted.
 */
static gs_status
sort_whole(gs_device_job *job, const round_buckets *buckets, unsigned round)
{
	unsigned	first_share = round * job->ndevices;
	bool		again;

	GS_TRY(sort_buckets(job, buckets));
	GS_TRY(finish_buckets(job, buckets, first_share));
	GS_TRY(sum_given(job, round));
	GS_TRY(sort_again(job, buckets, &again));
	if (!again)
		return GS_OK;
	GS_TRY(gs_proof_forget_sorted(job));
	return finish_buckets(job, buckets, first_share);
}

/* Marks and checks a bucket; when the next one is checked, too, its place may be another one's. */
static gs_status
close_bucket(gs_device_job *job, unsigned d, const gs_bucket *bucket, unsigned ordinal)
{
	if (ordinal & 1)
		GS_TRY(gs_job_follow(job, d, GS_QUEUE_WORK, d, GS_QUEUE_WORK2));
	if (job->args.equal.parts != NULL)
		GS_TRY(mark_bucket(job, d, bucket, ordinal));
	GS_TRY(check_bucket(job, d, bucket, ordinal));
	GS_DO(job, d, record, GS_QUEUE_WORK, &job->devices[d].checked[ordinal]);
	return GS_OK;
}

/* Looks at the first buckets, and sorts those by all bits that came out unsorted. */
static gs_status
look_at_first(gs_device_job *job, const round_buckets *buckets)
{
	GS_TRY(follow_second_queue(job));
	GS_TRY(gs_early_look(job));
	for (unsigned d = 0; d < job->ndevices; d++)
		for (unsigned i = 0; i < CLOSED_BEHIND && i < buckets->count[d]; i++)
			job->stop_early = job->stop_early && !job->devices[d].unsorted[i];
	return job->stop_early ? GS_OK : for_buckets(job, buckets, 0, CLOSED_BEHIND, sort_unsorted);
}

/*
 * Sorts buckets of which some are parked.  Each is checked while the next ones are sorted, so that
 * others can have its place.  So when the last one is sorted there is no way back to one that came
 * out unsorted: then returns GS_NO_SPACE, for all to be sorted without a guess.
 */
static gs_status
sort_parked(gs_device_job *job, const round_buckets *buckets)
{
	GS_TRY(gs_early_begin_round(job));
	if (job->args.equal.parts != NULL)
		GS_TRY(clear_bitmaps(job, 0));
	for (unsigned d = 0; d < job->ndevices; d++)
		GS_TRY(gs_job_follow(job, d, GS_QUEUE_WORK2, d, GS_QUEUE_WORK));
	for (unsigned i = 0; i < buckets->most + CLOSED_BEHIND; i++)
	{
		if (i == CLOSED_BEHIND && job->stopped_early)
			GS_TRY(look_at_first(job, buckets));
		GS_TRY(for_buckets(job, buckets, i, i + 1, sort_bucket));
		if (i >= CLOSED_BEHIND)
			GS_TRY(for_buckets(job, buckets, i - CLOSED_BEHIND, i - CLOSED_BEHIND + 1,
							   close_bucket));
	}
	for (unsigned d = 0; d < job->ndevices; d++)
		for (unsigned i = 0; i < buckets->count[d]; i++)
			job->devices[d].device->ops->release(job->devices[d].device,
												 job->devices[d].checked[i]);
	if (!job->stopped_early || !job->stop_early)
		return GS_OK;
	GS_TRY(gs_early_look(job));
	return any_unsorted(job, buckets) ? GS_NO_SPACE : GS_OK;
}

/* Sorts buckets by the first section of the key, then what ties by the others. */
static gs_status
sort_sections(gs_device_job *job, const round_buckets *buckets, unsigned round)
{
	bool		again;

	GS_TRY(clear_bitmaps(job, round * job->ndevices));
	GS_TRY(sort_buckets(job, buckets));
	GS_TRY(sort_again(job, buckets, &again));
	GS_TRY(for_all_buckets(job, buckets, return_bucket));
	GS_TRY(check_buckets(job, buckets));
	GS_TRY(sum_given(job, round));
	GS_TRY(gs_proof_shares(job, round));
	GS_TRY(gs_ties_round(job, round));
	return for_all_buckets(job, buckets, download_bucket);
}

/* Sorts the shares of a round. */
gs_status
gs_buckets_round(gs_device_job *job, unsigned round)
{
	unsigned	first_share = round * job->ndevices;
	bool		whole = job->cursor.bits_left == 0;
	round_buckets buckets;

	find_buckets(job, round, &buckets);
	if (job->result->parked_rows > 0)
		GS_TRY(sort_parked(job, &buckets));
	else if (whole)
		GS_TRY(sort_whole(job, &buckets, round));
	else
		GS_TRY(sort_sections(job, &buckets, round));
	for (unsigned d = 0; d < job->ndevices && job->args.equal.parts != NULL; d++)
		GS_TRY(gs_result_bitmap(job, d, first_share + d));
	if (job->overlap)
		GS_TRY(gs_result_mark_turn(job, round % 2));
	return whole ? gs_proof_shares(job, round) : GS_OK;
}
