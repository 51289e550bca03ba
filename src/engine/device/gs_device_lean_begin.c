/*
 * gs_device_lean_begin.c
 *		Whether a guess is to be a lean one, and how much host memory that wants.
 */
#include "engine/device/gs_bucket_private.h"
#include "engine/device/gs_device_private.h"

/*
 * Returns whether a device has no room for its part of an ordinary guess; or of a sort in one
 * round, if there is no such guess of these words.
 */
static bool
memory_is_short(const gs_device_job *job, unsigned d)
{
	uint64_t	rows = job->args.nrows / job->ndevices;
	size_t		available = gs_job_available(job, d);

	if (job->args.planes[0].bytes)
		return (rows + rows / 50) * (sizeof(uint64_t) + 2 * gs_lean_pair_bytes(job)) +
			GS_LEAN_SMALL_BYTES > available;
	return gs_guess_share_bytes(job, d, rows + rows / 4) > available;
}

/* Returns whether there may be lean guesses, and any device has too little for another one. */
static bool
is_short(const gs_device_job *job)
{
	bool		any = job->resident_planes == 0;

	if (!job->options.lean)
		return false;
	for (unsigned d = 0; d < job->ndevices; d++)
		any |= memory_is_short(job, d);
	return any;
}

/* Decides, before words are uploaded, whether there is to be a lean guess; then these land. */
void
gs_lean_begin(gs_device_job *job)
{
	job->lean = true;
	job->lean = is_short(job) && gs_guess_wanted(job);
	if (!job->lean)
		return;
	gs_lean_choose_rows(job);
	for (unsigned d = 0; d < job->ndevices; d++)
		job->lean &= gs_lean_take_landing(job, d);
	for (unsigned d = 0; d < job->ndevices && !job->lean; d++)
		gs_lean_give_landing(job, d);
}

/*
 * Reckons with the sample that a guess would take, and with bins of half the size that they should
 * have, which is the least of two that follow each other, so that there is enough.
 */
uint64_t
gs_device_park_bytes(gs_device_job *job, const gs_device_args *args)
{
	uint64_t	nkeys;
	uint64_t	bin_keys;
	uint64_t	capacity = 0;
	double		spared;			/* rows that regions have room for, by rows that come */

	job->args = *args;
	job->lean = true;
	nkeys = gs_guess_sampled_keys(job) / job->ndevices;
	job->lean = false;
	if (args->nplanes != 1 || args->planes[0].nulls.parts != NULL || job->planes[0].uploaded > 0 ||
		nkeys == 0 || !is_short(job))
		return 0;
	gs_lean_choose_rows(job);
	for (unsigned d = 0; d < job->ndevices; d++)
	{
		uint64_t	rows = gs_job_available(job, d) / gs_lean_pair_bytes(job);
		uint64_t	landing = 2 * gs_lean_half_bytes(job) / gs_lean_pair_bytes(job);

		capacity += rows > landing ? rows - landing : 0;
	}
	bin_keys = nkeys * job->lean_rows / args->nrows / 2 + 1;
	spared = (double) gs_guess_region_rows(bin_keys, nkeys, args->nrows) * (double) nkeys /
		((double) args->nrows * (double) bin_keys);
	if ((double) args->nrows * spared < (double) capacity)
		return 0;
	/* the first bin that has no room leaves some */
	return (uint64_t) (((double) args->nrows * spared - (double) capacity) * 1.1 *
					   (double) gs_lean_pair_bytes(job)) + gs_lean_half_bytes(job);
}
