/*
 * gs_device_proof.c
 *		Proving that what devices return is the rows they were given, in order.
 *
 * Memory, a driver or a sort may go wrong without an error.  So no result leaves before these are
 * known of it:
 *
 *	given		sums over rows as they came (gs_device.h), by the devices that hold them
 *	sorted		the same sums over all shares in order: they are equal if rows have the same
 *				keys and the same ids; and every row comes behind the one before, by its key
 *				and then by its id, across buckets, shares and rounds
 *	tied		sums over rows that tie, as they were taken out for the next section
 *	refined		the same sums over these rows, sorted by that section; they are in order,
 *				and their ids are where they belong
 *	placed		the sum over the ids of a share is the same when all sections are done
 *
 * Whatever bits a bucket was sorted by, it is checked by whole keys.  All is read where it lies in
 * device memory: 8 bytes a row of words as they came, while the links are busy with others or with
 * ids, and 8 and those of the id after the sort, while the host waits for downloads.  Keys in host
 * memory are not read for it; then the first sums are of ids only.
 *
 * It is taken for granted that keys arrived as they were sent, and that ids leave as they were
 * checked.  Both links have checksums of their own, and the memory of servers' GPUs corrects single
 * bits.
 */
#include <stdio.h>

#include "engine/device/gs_device_private.h"

static gs_status
wrong(gs_device_job *job, unsigned d, const char *what)
{
	snprintf(job->message, sizeof(job->message), "device %u has sorted wrongly: %s", d, what);
	return GS_DEVICE_WRONG;
}

static void
add_sums(gs_row_sums *to, gs_row_sums sums)
{
	to->ids += sums.ids;
	to->pairs += sums.pairs;
}

static bool
same_sums(gs_row_sums a, gs_row_sums b)
{
	return a.ids == b.ids && a.pairs == b.pairs;
}

void
gs_proof_begin(gs_device_job *job)
{
	job->given = (gs_row_sums) {0, 0};
	job->returned = (gs_row_sums) {0, 0};
	job->keys_summed = job->key_plane < 0 || (unsigned) job->key_plane < job->resident_planes;
	job->has_last = false;
}

gs_status
gs_proof_begin_round(gs_device_job *job)
{
	for (unsigned d = 0; d < job->ndevices; d++)
		GS_DO(job, d, clear, GS_QUEUE_WORK, &job->devices[d].tables->proof,
			  sizeof(job->devices[d].tables->proof));
	return GS_OK;
}

gs_status
gs_proof_forget_sorted(gs_device_job *job)
{
	for (unsigned d = 0; d < job->ndevices; d++)
		GS_DO(job, d, clear, GS_QUEUE_WORK, &job->devices[d].tables->proof.sorted,
			  sizeof(job->devices[d].tables->proof.sorted));
	return GS_OK;
}

gs_status
gs_proof_given(gs_device_job *job, unsigned d, gs_rows rows, gs_keys keys)
{
	if (!job->keys_summed)
		keys.words = NULL;
	GS_DO(job, d, sum_rows, GS_QUEUE_WORK, rows, keys, &job->devices[d].tables->proof.given);
	return GS_OK;
}

static gs_status
check_rows(gs_device_job *job, unsigned d, gs_checked_rows rows, gs_order_check *check)
{
	rows.id_bytes = job->args.id_bytes;
	rows.nids = job->args.nrows;
	GS_DO(job, d, check_rows, GS_QUEUE_WORK, &rows, check);
	return GS_OK;
}

gs_status
gs_proof_sorted(gs_device_job *job, unsigned d, gs_pairs rows, gs_pairs before, uint64_t nrows)
{
	return check_rows(job, d, (gs_checked_rows) {.rows = rows, .before = before, .nrows = nrows},
					  &job->devices[d].tables->proof.sorted);
}

gs_status
gs_proof_placed(gs_device_job *job, unsigned d, uint64_t nrows)
{
	gs_pairs	ids = {NULL, job->devices[d].pairs.ids};

	return check_rows(job, d, (gs_checked_rows) {.rows = ids, .nrows = nrows},
					  &job->devices[d].tables->proof.placed);
}

gs_status
gs_proof_tied(gs_device_job *job, unsigned d)
{
	const gs_ties *ties = &job->devices[d].ties;
	gs_share_proof *proof = &job->devices[d].tables->proof;

	GS_DO(job, d, clear, GS_QUEUE_WORK, &proof->tied, sizeof(proof->tied));
	GS_DO(job, d, clear, GS_QUEUE_WORK, &proof->refined, sizeof(proof->refined));
	return check_rows(job, d, (gs_checked_rows) {.rows = ties->pairs, .nrows = ties->nrows},
					  &proof->tied);
}

gs_status
gs_proof_refined(gs_device_job *job, unsigned d)
{
	gs_job_device *jd = &job->devices[d];
	gs_checked_rows rows = {
		.rows = jd->ties.pairs,
		.nrows = jd->ties.nrows,
		.positions = jd->ties.positions,
		.placed = jd->pairs.ids,
	};

	return check_rows(job, d, rows, &jd->tables->proof.refined);
}

/* Downloads what a device has found out. */
static gs_status
look(gs_device_job *job, unsigned d)
{
	gs_job_device *jd = &job->devices[d];

	GS_DO(job, d, download, GS_QUEUE_WORK, &jd->proof, &jd->tables->proof, sizeof(jd->proof));
	return gs_job_sync_queue(job, d, GS_QUEUE_WORK);
}

/* Returns GS_DEVICE_WRONG unless a share is in order, and behind the one before. */
static gs_status
prove_share(gs_device_job *job, unsigned d)
{
	const gs_order_check *sorted = &job->devices[d].proof.sorted;

	if (sorted->descents > 0)
		return wrong(job, d, "rows are out of order");
	if (job->has_last && (sorted->first_key < job->last_key ||
						  (sorted->first_key == job->last_key && sorted->first_id <= job->last_id)))
		return wrong(job, d, "rows do not follow those before");
	job->has_last = true;
	job->last_key = sorted->last_key;
	job->last_id = sorted->last_id;
	return GS_OK;
}

/* Returns GS_DEVICE_WRONG unless all rows have come back. */
static gs_status
prove_sums(gs_device_job *job)
{
	if (!job->keys_summed)
		job->given.pairs = job->returned.pairs;
	return same_sums(job->given, job->returned) ? GS_OK
		: gs_job_fail(job, GS_DEVICE_WRONG,
					  "devices have sorted wrongly: rows were lost, doubled or changed");
}

gs_status
gs_proof_shares(gs_device_job *job, unsigned round)
{
	const uint64_t *cuts = gs_plan_cuts(job->plan) + round * job->ndevices;

	for (unsigned d = 0; d < job->ndevices; d++)
	{
		GS_TRY(look(job, d));
		if (cuts[d + 1] > cuts[d])
			GS_TRY(prove_share(job, d));
		add_sums(&job->given, job->devices[d].proof.given);
		add_sums(&job->returned, job->devices[d].proof.sorted.sums);
	}
	return round + 1 < job->rounds ? GS_OK : prove_sums(job);
}

gs_status
gs_proof_ties(gs_device_job *job, unsigned d)
{
	const gs_share_proof *proof = &job->devices[d].proof;

	GS_TRY(look(job, d));
	if (!same_sums(proof->tied.sums, proof->refined.sums))
		return wrong(job, d, "rows that tie are not those that were taken");
	if (proof->refined.descents > 0)
		return wrong(job, d, "rows that tie are out of order");
	return GS_OK;
}

gs_status
gs_proof_places(gs_device_job *job, unsigned d)
{
	const gs_share_proof *proof = &job->devices[d].proof;

	GS_TRY(look(job, d));
	if (proof->placed.sums.ids != proof->sorted.sums.ids)
		return wrong(job, d, "rows that tied were lost or doubled");
	return GS_OK;
}

gs_status
gs_proof_begin_identity(gs_device_job *job)
{
	gs_proof_begin(job);
	job->keys_summed = false;
	GS_TRY(gs_proof_begin_round(job));
	for (unsigned d = 0; d < job->ndevices; d++)
	{
		const gs_job_device *jd = &job->devices[d];

		if (jd->nsegments > 0)
			GS_TRY(gs_proof_given(job, d, gs_job_rows(job, jd->first_segment, jd->nsegments),
								  (gs_keys) {.words = NULL}));
	}
	return GS_OK;
}

gs_status
gs_proof_end_identity(gs_device_job *job)
{
	for (unsigned d = 0; d < job->ndevices; d++)
	{
		GS_TRY(look(job, d));
		if (job->devices[d].proof.sorted.descents > 0)
			return wrong(job, d, "rows are out of order");
		add_sums(&job->given, job->devices[d].proof.given);
		add_sums(&job->returned, job->devices[d].proof.sorted.sums);
	}
	return prove_sums(job);
}
