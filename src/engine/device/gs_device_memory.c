/*
 * gs_device_memory.c
 *		How device memory is divided up.
 *
 * Bytes that a row takes, on the device that has it:
 *
 *	words of each resident plane	8, from the upload on
 *	packed first section			8, if the key is not one plane's words; in the place of
 *									the first plane's, if memory is short
 *	pairs, and as much to sort in	2 * (8 + id_bytes), of the rows of a share
 *	pairs on their way				8 + id_bytes, if devices exchange by copies
 *	ties							see gs_device_ties.c, if the key is wide
 *
 * A device that has no room for the pairs of all its rows sorts them in several rounds, share by
 * share.  All shares are equally large, within epsilon.  Rounds *overlap*: while the ids of one are
 * downloaded the next one is scattered and sorted.  So there is memory for the pairs of two shares,
 * and buckets are sorted with that of another bucket.  But if the key is wide, a share needs all
 * memory for itself.  A round reads all keys, which takes a fiftieth of the time from device memory
 * that it takes over the link.  So keys are kept in device memory first of all, if they leave an
 * eighth of it to pairs, and shares are small; other planes that were resident are released once
 * the keys are packed.
 *
 * Where rows are scattered while they are uploaded there are no rounds, but less or more memory
 * than that (gs_device_guess.c, gs_device_lean.c).
 *
 * These are estimates.  If an allocation fails, or the plan can't keep a share below its capacity,
 * the caller tries again with more shares, and with keys in host memory if there would be too many.
 */
#include "engine/device/gs_device_private.h"

/* Memory that refining ties takes for each row at worst, beside the pairs. */
#define TIES_ROW_BYTES(id_bytes)	(8 + 2 * 4 + (id_bytes))

/* So many rounds with resident keys cost no more than a few rounds that read keys from the host. */
#define MOST_RESIDENT_ROUNDS	64

/*
 * Limits of the rows of a bucket.  On four H200s, 10^7, 10^8 and 10^9 rows were sorted fastest with
 * buckets of 2, 4 to 8, and 8 million rows; with 1 million it took up to 1.6 times as long.
 */
#define BUCKETS_A_JOB	32
#define MIN_BUCKET_ROWS	(UINT64_C(2) << 20)
#define MAX_BUCKET_ROWS	(UINT64_C(8) << 20)
/* ... and so many buckets a share at least, if rounds overlap. */
#define OVERLAPPING_BUCKETS	8

/* Returns rows and a bit more: a share may exceed the ideal size by epsilon at both ends. */
static uint64_t
with_epsilon(uint64_t rows)
{
	return rows + rows / 100 + 1;
}

static size_t
pair_bytes(unsigned id_bytes)
{
	return sizeof(uint64_t) + id_bytes;
}

static bool
exchange_by_copy(const gs_device_job *job, unsigned ndevices)
{
	return ndevices > 1 && !job->store;
}

/* Returns the least memory that any of the devices has for the job, in use or not. */
static size_t
least_memory(const gs_device_job *job, unsigned ndevices)
{
	size_t		least = SIZE_MAX;

	for (unsigned d = 0; d < ndevices; d++)
	{
		size_t		bytes = gs_job_available(job, d) + job->devices[d].used_bytes;

		least = bytes < least ? bytes : least;
	}
	return least;
}

static size_t
least_available(const gs_device_job *job)
{
	size_t		least = SIZE_MAX;

	for (unsigned d = 0; d < job->ndevices; d++)
	{
		size_t		bytes = gs_job_available(job, d);

		least = bytes < least ? bytes : least;
	}
	return least;
}

/*
 * Returns how many leading planes may be resident: they may take seven eighths of the memory.
 * Ahead of the run, while other jobs are sorted, they may take half of it, or what the pairs of all
 * rows leave, if that is more.
 */
unsigned
gs_memory_planes(const gs_device_job *job, uint64_t nrows, unsigned nplanes, bool ahead)
{
	unsigned	ndevices = job->ndevices;
	size_t		memory = least_memory(job, ndevices);
	uint64_t	rows = nrows < GS_SEGMENT_ROWS ? nrows + 1 : nrows / ndevices + GS_SEGMENT_ROWS;
	uint64_t	words = rows * sizeof(uint64_t);
	unsigned	pairs = exchange_by_copy(job, ndevices) ? 3 : 2;
	unsigned	id_bytes = job->args.id_bytes == 0 ? 8 : job->args.id_bytes;
	uint64_t	sorting = with_epsilon(rows) * pairs * pair_bytes(id_bytes) +
		sizeof(gs_device_tables);
	uint64_t	room = 0;
	uint64_t	planes;

	if (memory > sizeof(gs_device_tables))
		room = memory - sizeof(gs_device_tables);
	room -= ahead ? room / 2 : room / 8;
	if (nplanes > 1)
		sorting += words;
	if (memory > sorting && memory - sorting > room)
		room = memory - sorting;
	planes = room / words;
	return planes < nplanes ? (unsigned) planes : nplanes;
}

/*
 * Returns the bytes that a row of a share takes.  If rounds overlap, two buckets are sorted at a
 * time, each of an eighth of a share at most, as a rule.
 */
static uint64_t
share_row_bytes(const gs_device_job *job, bool overlap)
{
	unsigned	pairs = exchange_by_copy(job, job->ndevices) ? 3 : 2;
	uint64_t	bytes = pairs * pair_bytes(job->args.id_bytes);

	if (overlap)
		bytes += pair_bytes(job->args.id_bytes) / 4;
	if (job->cursor.bits_left > 0)
		bytes += TIES_ROW_BYTES(job->args.id_bytes);
	if (job->args.equal.parts != NULL)
		bytes++;
	return bytes;
}

/*
 * Returns how many rows a share may have with the memory that is free now, if there are at least
 * min_rounds shares for each device.
 */
static uint64_t
share_capacity(const gs_device_job *job, unsigned min_rounds, bool overlap)
{
	uint64_t	rows = with_epsilon(job->args.nrows / job->ndevices / min_rounds);
	uint64_t	capacity;
	size_t		memory = least_available(job);
	size_t		temp = 0;

	for (unsigned d = 0; d < job->ndevices; d++)
	{
		gs_device  *device = job->devices[d].device;
		gs_rows		all = {0, job->args.nrows / job->ndevices + GS_SEGMENT_ROWS};
		size_t		bytes = 2 * device->ops->sort_temp_bytes(device, job->args.id_bytes, rows) +
			device->ops->scatter_temp_bytes(device, all) +
			device->ops->tile_counts_bytes(device, all);

		temp = bytes > temp ? bytes : temp;
	}
	/* for the alignment of a dozen blocks, and gaps between them */
	temp += 12 * 1024;
	capacity = memory > temp ? (memory - temp) / share_row_bytes(job, overlap) : 0;
	if (job->cursor.bits_left > 0 && capacity >= UINT32_MAX)
		capacity = UINT32_MAX - 1;
	return capacity;
}

/*
 * Chooses the number of rounds, at least min_rounds, and with it that of shares.  Returns
 * GS_NO_SPACE if that would be too many.
 */
gs_status
gs_memory_shares(gs_device_job *job, unsigned min_rounds)
{
	uint64_t	rows = with_epsilon(job->args.nrows / job->ndevices);
	uint64_t	most_rounds = GS_MAX_SHARES / job->ndevices;
	uint64_t	capacity = 0;
	uint64_t	rounds = min_rounds;

	if (job->resident_keys && most_rounds > MOST_RESIDENT_ROUNDS)
		most_rounds = MOST_RESIDENT_ROUNDS;
	/* smaller shares take less memory to sort, so the second look finds more of it for shares */
	for (int i = 0; i < 3 && rounds <= most_rounds; i++)
	{
		job->overlap = rounds > 1 && job->cursor.bits_left == 0;
		capacity = share_capacity(job, (unsigned) rounds, job->overlap);
		if (capacity == 0)
			return gs_job_fail(job, GS_NO_SPACE, "not enough device memory");
		rounds = (rows + capacity - 1) / capacity;
		if (rounds < min_rounds)
			rounds = min_rounds;
	}
	if (rounds > most_rounds)
		return gs_job_fail(job, GS_NO_SPACE, "not enough device memory");
	job->overlap = rounds > 1 && job->cursor.bits_left == 0;
	job->rounds = (unsigned) rounds;
	job->nshares = (unsigned) rounds * job->ndevices;
	job->capacity_rows = capacity;
	return GS_OK;
}

static uint64_t
packed_bytes(const gs_device_job *job, unsigned d)
{
	const gs_job_device *jd = &job->devices[d];

	return gs_job_rows(job, jd->first_segment, jd->nsegments).nrows * sizeof(uint64_t);
}

/* Returns whether a device has room for its packed keys and for the pairs of a single round. */
static bool
packs_apart(const gs_device_job *job, unsigned d)
{
	uint64_t	rows = with_epsilon(job->args.nrows / job->ndevices);

	return packed_bytes(job, d) + rows * share_row_bytes(job, false) <= gs_job_available(job, d);
}

/*
 * Returns whether all devices have room for their packed keys and for the pairs of a single round.
 */
bool
gs_memory_packs_apart(const gs_device_job *job)
{
	for (unsigned d = 0; d < job->ndevices; d++)
		if (!packs_apart(job, d))
			return false;
	return true;
}

/*
 * Returns for how many segments a device should keep packed keys: for all of its own, or for a few.
 */
uint64_t
gs_memory_packed_segments(const gs_device_job *job, unsigned d)
{
	const gs_job_device *jd = &job->devices[d];
	uint64_t	segment_bytes = GS_SEGMENT_ROWS * sizeof(uint64_t);
	size_t		memory = gs_job_available(job, d);
	uint64_t	few;

	if (packs_apart(job, d) || (!job->in_chunks && packed_bytes(job, d) <= memory - memory / 8))
		return jd->nsegments;
	few = memory / 16 / segment_bytes;
	return few < 1 ? 1 : few > 64 ? 64 : few;
}

/* Returns the most rows that a device gets in a round. */
static uint64_t
most_share_rows(const gs_device_job *job, unsigned d)
{
	const uint64_t *cuts = gs_plan_cuts(job->plan);
	uint64_t	most = 0;

	for (unsigned share = d; share < job->nshares; share += job->ndevices)
		if (cuts[share + 1] - cuts[share] > most)
			most = cuts[share + 1] - cuts[share];
	return most;
}

/* Returns the most rows that a device sorts at a time: buckets of equal keys are in order. */
static uint64_t
most_bucket_rows(const gs_device_job *job, unsigned d)
{
	const gs_bucket *buckets;
	unsigned	nbuckets = gs_plan_buckets(job->plan, &buckets);
	uint64_t	most = 1;

	for (unsigned i = 0; i < nbuckets; i++)
		if (buckets[i].share % job->ndevices == d && buckets[i].bits > 0 &&
			buckets[i].end - buckets[i].begin > most)
			most = buckets[i].end - buckets[i].begin;
	return most;
}

/* Takes memory for pairs; returns false if there is none. */
bool
gs_memory_take_pairs(gs_device_job *job, unsigned d, uint64_t rows, gs_pairs *pairs)
{
	pairs->keys = gs_job_alloc(job, d, rows * sizeof(uint64_t));
	pairs->ids = gs_job_alloc(job, d, rows * job->args.id_bytes);
	return pairs->keys != NULL && pairs->ids != NULL;
}

/* Takes memory for a share's bitmap, if that is wanted; returns NULL if there is none. */
static uint64_t *
take_bitmap(gs_device_job *job, unsigned d)
{
	return job->args.equal.parts == NULL ? NULL
		: gs_job_alloc(job, d, (most_share_rows(job, d) / 64 + 3) * sizeof(uint64_t));
}

/* Takes what sorting needs beside pairs; returns false if there is no room. */
static bool
take_sorting(gs_device_job *job, unsigned d)
{
	gs_job_device *jd = &job->devices[d];
	gs_device  *device = jd->device;
	size_t		temp = device->ops->sort_temp_bytes(device, job->args.id_bytes,
													most_bucket_rows(job, d));

	jd->sort_temp[0] = gs_job_alloc(job, d, temp);
	jd->sort_temp[1] = gs_job_alloc(job, d, temp);
	jd->borders = gs_job_alloc(job, d, 2 * job->rounds * sizeof(uint64_t));
	jd->bitmap = take_bitmap(job, d);
	return jd->sort_temp[0] != NULL && jd->sort_temp[1] != NULL && jd->borders != NULL &&
		(job->args.equal.parts == NULL || jd->bitmap != NULL);
}

/* Does so on all devices, for rows that were scattered while they were uploaded. */
bool
gs_memory_take_sorting(gs_device_job *job)
{
	for (unsigned d = 0; d < job->ndevices; d++)
		if (!take_sorting(job, d))
			return false;
	return true;
}

static void
give_pairs(gs_device_job *job, unsigned d, gs_pairs *pairs)
{
	gs_job_free(job, d, pairs->keys);
	gs_job_free(job, d, pairs->ids);
	*pairs = (gs_pairs) {NULL, NULL};
}

/* Gives back what a device has for shares, which nothing may be using. */
void
gs_memory_give_shares(gs_device_job *job, unsigned d)
{
	gs_job_device *jd = &job->devices[d];

	give_pairs(job, d, &jd->pairs);
	give_pairs(job, d, &jd->spare);
	gs_job_free(job, d, jd->scatter_temp);
	gs_job_free(job, d, jd->sort_temp[0]);
	gs_job_free(job, d, jd->sort_temp[1]);
	gs_job_free(job, d, jd->borders);
	gs_job_free(job, d, jd->bitmap);
	jd->scatter_temp = jd->sort_temp[0] = jd->sort_temp[1] = NULL;
	jd->borders = jd->bitmap = NULL;
}

/* Takes memory for the pairs of two shares, of which the first has the bitmap, and two buckets. */
static bool
take_turns(gs_device_job *job, unsigned d)
{
	gs_job_device *jd = &job->devices[d];
	uint64_t	rows = most_share_rows(job, d);
	uint64_t	bucket_rows = most_bucket_rows(job, d);

	jd->turn_bitmaps[0] = jd->bitmap;
	jd->turn_bitmaps[1] = take_bitmap(job, d);
	jd->spare = (gs_pairs) {NULL, NULL};
	for (unsigned i = 0; i < 2; i++)
		if (!gs_memory_take_pairs(job, d, rows, &jd->turn_pairs[i]) ||
			!gs_memory_take_pairs(job, d, bucket_rows, &jd->queue_spares[i]))
			return false;
	return job->args.equal.parts == NULL || jd->turn_bitmaps[1] != NULL;
}

static bool
take_device(gs_device_job *job, unsigned d)
{
	gs_job_device *jd = &job->devices[d];
	gs_device  *device = jd->device;
	uint64_t	rows = most_share_rows(job, d);
	gs_rows		chunk = {jd->first_segment << GS_SEGMENT_SHIFT,
	jd->chunk_segments << GS_SEGMENT_SHIFT};

	jd->scatter_temp = gs_job_alloc(job, d, device->ops->scatter_temp_bytes(device, chunk));
	if (jd->scatter_temp == NULL || !take_sorting(job, d))
		return false;
	if (job->local_positions != NULL &&
		!gs_memory_take_pairs(job, d, jd->local_rows, &jd->local))
		return false;
	if (job->overlap)
		return take_turns(job, d);
	return gs_memory_take_pairs(job, d, rows, &jd->pairs) &&
		gs_memory_take_pairs(job, d, rows, &jd->spare);
}

/* Takes the memory that the plan's shares need. */
gs_status
gs_memory_take(gs_device_job *job)
{
	for (unsigned d = 0; d < job->ndevices; d++)
		if (!take_device(job, d))
			return gs_job_fail(job, GS_NO_SPACE, "not enough device memory");
	return GS_OK;
}

/*
 * Returns the number of rows below which buckets are fused.  Each bucket costs a dozen kernel
 * launches on a device and 50 microseconds of the thread that makes them for all devices.  But with
 * many buckets the last one, whose download nothing hides, is small.
 */
uint64_t
gs_memory_bucket_rows(const gs_device_job *job)
{
	uint64_t	rows = job->args.nrows / BUCKETS_A_JOB;

	if (job->options.bucket_rows > 0)
		return job->options.bucket_rows;
	rows = rows < MIN_BUCKET_ROWS ? MIN_BUCKET_ROWS
		: rows > MAX_BUCKET_ROWS ? MAX_BUCKET_ROWS : rows;
	/* if rounds overlap, buckets take memory beside that of shares */
	if (job->overlap && rows > job->capacity_rows / OVERLAPPING_BUCKETS)
		rows = job->capacity_rows / OVERLAPPING_BUCKETS;
	return rows;
}
