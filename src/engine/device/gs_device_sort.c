/*
 * gs_device_sort.c
 *		Sorting on a group of devices: the order of the steps.
 *
 *	upload		words to the devices, statistics on the way	gs_device_upload.c
 *				... and rows to where they will be, at a guess	gs_device_guess.c
 *	layout		of the key, from the statistics
 *	keys		the first section of it, at most 64 bits		gs_device_partition.c
 *	plan		histograms; shares and buckets				gs_bucket_plan.c
 *	for each round, one share on each device:
 *		scatter	rows to their shares						gs_device_exchange.c
 *		sort	bucket by bucket							gs_device_buckets.c
 *		refine	what ties, if the key is wider				gs_device_ties.c
 *		download											gs_device_result.c
 *		prove that rows are the same ones, and in order		gs_device_proof.c
 *
 * The host waits for devices when it needs numbers: for the statistics, for each histogram, for the
 * counts of ties, and for the proof of each round.  All other work is put on queues.  If the guess
 * was right, rows are in their shares when the statistics are there, and are sorted at once.
 * gs_device_wait() does the rest of the waiting, for downloads that went on while devices sorted
 * and proved.
 *
 * If memory turns out too small on the way, what was done from the plan on is thrown away, and done
 * again with twice as many shares; in the end without any keys in device memory.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/device/gs_device_private.h"

#define MAX_ROWS			(UINT64_C(1) << 48)

/* Returns whether rows may be stored straight to the device of their share. */
static bool
may_store(const gs_group *group)
{
	if (group->options.exchange != GS_EXCHANGE_AUTO)
		return group->options.exchange == GS_EXCHANGE_STORE;
	for (unsigned d = 0; d < group->ndevices; d++)
		for (unsigned peer = 0; peer < group->ndevices; peer++)
			if (peer != d && !group->devices[d]->ops->can_reach(group->devices[d],
																group->devices[peer]))
				return false;
	return true;
}

static void
free_job(gs_device_job *job)
{
	for (unsigned p = 0; p < GS_MAX_PLANES; p++)
	{
		free(job->planes[p].host_words);
		free(job->planes[p].words);
		free(job->planes[p].nulls);
		free(job->planes[p].runs);
		free(job->planes[p].numbering);
	}
	for (unsigned d = 0; d < GS_MAX_DEVICES; d++)
		free(job->devices[d].packed_words);
	gs_plan_end(job->plan);
	free(job->allocations);
	free(job->stats);
	free(job->alphabets);
	free(job->counts);
	free(job->guess);
	free(job->positions);
	free(job->local_positions);
	free(job->tree);
	free(job->ready);
	free(job->borders);
	free(job->border_bits);
	free(job);
}

gs_status
gs_device_begin(gs_group *group, unsigned nplanes, uint64_t expected_rows, gs_device_job **result)
{
	gs_device_job *job = calloc(1, sizeof(*job));

	*result = NULL;
	if (job == NULL)
		return GS_NO_SPACE;
	job->stats = malloc(group->ndevices * sizeof(*job->stats));
	job->counts = malloc(group->ndevices * sizeof(*job->counts));
	job->tree = malloc(sizeof(*job->tree));
	if (job->stats == NULL || job->counts == NULL || job->tree == NULL)
	{
		free_job(job);
		return GS_NO_SPACE;
	}
	job->group = group;
	job->options = group->options;
	if (job->options.device_rows == 0)
		job->options.device_rows = GS_DEFAULT_DEVICE_ROWS;
	job->store = may_store(group);
	for (unsigned d = 0; d < group->ndevices; d++)
		job->devices[d].device = group->devices[d];
	job->fed_planes = nplanes < GS_MAX_PLANES ? nplanes : GS_MAX_PLANES;
	gs_upload_expect(job, expected_rows);
	job->resident_planes = gs_memory_planes(job, expected_rows, job->fed_planes, true);
	*result = job;
	return GS_OK;
}

/*
 * Gives up a job: stops the devices, gives back all of their memory, and forgets what was on them.
 * Returns status, or GS_DEVICE_LOST if a device turns out to be lost.
 */
static gs_status
abandon(gs_device_job *job, gs_status status)
{
	for (unsigned d = 0; d < job->group->ndevices; d++)
	{
		gs_job_device *jd = &job->devices[d];

		if (!jd->touched)
			continue;
		if (jd->device->ops->reset(jd->device) == GS_DEVICE_LOST)
			status = gs_job_failed(job, d, GS_DEVICE_LOST);
		jd->touched = false;
		jd->turn_downloaded[0] = jd->turn_downloaded[1] = NULL;
		jd->tables = NULL;
		jd->alphabets = NULL;
	}
	for (unsigned i = 0; i < job->nready; i++)
		job->ready[i].event = NULL;
	gs_result_end(job);
	gs_job_free_from(job, 0);
	gs_upload_drop(job);
	free(job->guess);
	job->guess = NULL;
	job->failed = false;
	return status;
}

/*
 * Whatever goes wrong while rows are fed is put right when the job is run.  The devices can't be
 * reset now: they may be sorting for another job.
 */
void
gs_device_feed(gs_device_job *job, unsigned plane, uint64_t segment, const uint64_t *words)
{
	if (plane < job->resident_planes && plane < job->fed_planes && !job->failed)
		job->failed = gs_upload_ahead(job, plane, segment, words) != GS_OK;
}

void
gs_device_unfeed(gs_device_job *job, unsigned plane)
{
	if (plane < job->fed_planes && !job->failed)
		job->failed = gs_upload_forget(job, plane) != GS_OK;
}

/* Throws away what was done from the plan on. */
static gs_status
undo_shares(gs_device_job *job)
{
	GS_TRY(gs_job_drain(job));
	gs_result_end(job);
	gs_plan_end(job->plan);
	free(job->positions);
	free(job->local_positions);
	job->plan = NULL;
	job->positions = NULL;
	job->local_positions = NULL;
	gs_job_free_from(job, job->share_allocations);
	return GS_OK;
}

static uint64_t
largest_share(const gs_device_job *job)
{
	const uint64_t *cuts = gs_plan_cuts(job->plan);
	uint64_t	largest = 0;

	for (unsigned share = 0; share < job->nshares; share++)
		if (cuts[share + 1] - cuts[share] > largest)
			largest = cuts[share + 1] - cuts[share];
	return largest;
}

/* Tells the result what the plan is. */
static void
report_plan(gs_device_job *job)
{
	gs_device_result *result = job->result;
	const gs_bucket *buckets;

	result->rounds = job->rounds;
	result->resident = job->resident_keys;
	result->guessed = job->guess != NULL;
	result->histograms = gs_plan_passes(job->plan);
	result->buckets = gs_plan_buckets(job->plan, &buckets);
	result->refined_rows = 0;
	result->resorted_rows = 0;
	result->largest_share_rows = largest_share(job);
}

/*
 * Sorts rows that were scattered while they were uploaded: all of them are there, as the host has
 * waited for what the devices have counted.  There is no guess afterwards if that can't be done.
 */
static gs_status
sort_guessed(gs_device_job *job)
{
	gs_status	status;

	report_plan(job);
	GS_TRY(gs_result_begin(job, job->result->buckets));
	status = gs_buckets_round(job, 0);
	if (status != GS_NO_SPACE || !job->lean)
		return status;
	GS_TRY(gs_job_drain(job));
	gs_result_end(job);
	GS_TRY(gs_guess_drop(job));
	return gs_upload_again(job);
}

/* Plans shares, at least min_rounds a device, and sorts them. */
static gs_status
sort_shares(gs_device_job *job, unsigned min_rounds)
{
	job->share_allocations = job->nallocations;
	GS_TRY(gs_memory_shares(job, min_rounds));
	if (job->rounds > 1 && job->resident_keys)
	{
		GS_TRY(gs_upload_release(job, job->kept_plane));
		job->share_allocations = job->nallocations;
		GS_TRY(gs_memory_shares(job, min_rounds));
	}
	GS_TRY(gs_partition_plan(job));
	report_plan(job);
	GS_TRY(gs_result_begin(job, job->result->buckets));
	GS_TRY(gs_exchange_prepare(job));
	GS_TRY(gs_memory_take(job));
	gs_proof_begin(job);
	for (unsigned round = 0; round < job->rounds; round++)
	{
		GS_TRY(gs_job_poll(job));
		GS_TRY(gs_partition_round(job, round));
		GS_TRY(gs_buckets_round(job, round));
	}
	return GS_OK;
}

/* Sorts shares, and again with more and more shares as long as memory is too small for them. */
static gs_status
try_shares(gs_device_job *job)
{
	unsigned	min_rounds = 1;
	gs_status	status = GS_NO_SPACE;

	while (status == GS_NO_SPACE && min_rounds > 0 && min_rounds * job->ndevices <= GS_MAX_SHARES)
	{
		if (min_rounds > 1)
			GS_TRY(undo_shares(job));
		job->rounds = 0;		/* stays 0 if there would be too many */
		status = sort_shares(job, min_rounds);
		min_rounds = 2 * job->rounds;
	}
	return status;
}

static gs_status
sort_rows(gs_device_job *job)
{
	gs_status	status;

	GS_TRY(gs_job_poll(job));
	GS_TRY(gs_upload_planes(job));
	GS_TRY(gs_upload_layout(job));
	job->result->key_bits = (unsigned) job->layout.key_bits;
	job->result->devices = job->ndevices;
	job->result->rounds = 1;
	if (job->layout.key_bits == 0)
		return gs_result_identity(job);
	if (job->guess != NULL)
		GS_TRY(sort_guessed(job));
	if (job->guess != NULL)
		return GS_OK;

	GS_TRY(gs_partition_keys(job));
	gs_early_choose(job);
	status = try_shares(job);
	if (status != GS_NO_SPACE || job->in_chunks)
		return status;
	GS_TRY(undo_shares(job));
	GS_TRY(gs_partition_evict(job));
	return try_shares(job);
}

static bool
args_valid(const gs_device_args *args)
{
	return args->nplanes <= GS_MAX_PLANES && (args->id_bytes == 4 || args->id_bytes == 8) &&
		args->nrows <= (args->id_bytes == 4 ? (uint64_t) UINT32_MAX : MAX_ROWS);
}

gs_status
gs_device_run(gs_device_job *job, const gs_device_args *args, gs_device_result *result,
			  const char **message)
{
	gs_status	status = GS_OK;

	*result = (gs_device_result) {.rounds = 0};
	*message = job->message;
	if (!args_valid(args))
		return gs_job_fail(job, GS_INVALID, gs_status_text(GS_INVALID));
	job->args = *args;
	job->result = result;
	if (job->failed)
		status = abandon(job, GS_OK);
	if (args->nrows > 0 && status == GS_OK)
		status = sort_rows(job);
	return status == GS_OK ? GS_OK : abandon(job, status);
}

gs_status
gs_device_wait(gs_device_job *job, uint64_t *ready, const char **message)
{
	gs_status	status;

	*message = job->message;
	if (*ready >= job->args.nrows)
		return GS_OK;
	status = gs_result_wait(job, ready);
	return status == GS_OK ? GS_OK : abandon(job, status);
}

void
gs_device_end(gs_device_job *job)
{
	if (job == NULL)
		return;
	job->args.cancel = NULL;
	if (gs_job_drain(job) != GS_OK)
		abandon(job, GS_DEVICE_ERROR);
	gs_result_end(job);
	gs_job_free_from(job, 0);
	free_job(job);
}
