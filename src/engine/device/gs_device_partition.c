/*
 * gs_device_partition.c
 *		Keys, histograms, and the scattering of rows to their shares.
 *
 * The first section of a row's key is read from a plane's words as they are, if it is all of one
 * plane without nulls.  In all other cases keys are packed.  If memory is short, and also if only
 * numbers of whole words are taken, packed keys are written over the words of the first plane in
 * device memory; operations that need more of these words read them in host memory then.  Packed
 * keys that device memory has no room for are made anew in chunks whenever keys are read; one chunk
 * after the other on the same queue, so that they can use the same memory.
 *
 * In every round the rows of its shares, one on each device, are scattered: each device goes
 * through all of its rows and leaves out those of other rounds.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/device/gs_bucket_private.h"
#include "engine/device/gs_device_private.h"

/* Returns whether the section is a plane's words as they are. */
static bool
section_is_plane(const gs_section *section)
{
	const gs_piece *piece = &section->pieces[0];

	return section->npieces == 1 && !piece->field->is_null_flag && !piece->field->nullable &&
		piece->shift == 0 && piece->width == piece->field->width;
}

static gs_status
take_packed_memory(gs_device_job *job, unsigned d)
{
	gs_job_device *jd = &job->devices[d];
	gs_rows		rows;

	jd->chunk_segments = gs_memory_packed_segments(job, d);
	rows = gs_job_rows(job, jd->first_segment, jd->chunk_segments);
	jd->packed = gs_job_alloc(job, d, rows.nrows * sizeof(uint64_t));
	jd->packed_words = malloc(jd->chunk_segments * sizeof(*jd->packed_words));
	if (jd->packed == NULL || jd->packed_words == NULL)
		return gs_job_fail(job, GS_NO_SPACE, "not enough device memory");
	for (uint64_t s = 0; s < jd->chunk_segments; s++)
		jd->packed_words[s] = jd->packed + (s << GS_SEGMENT_SHIFT);
	return GS_OK;
}

static uint64_t
count_chunks(const gs_job_device *jd)
{
	return jd->nsegments == 0 ? 0 : (jd->nsegments + jd->chunk_segments - 1) / jd->chunk_segments;
}

/* Returns the rows of a device's chunk. */
static gs_rows
chunk_rows(const gs_device_job *job, const gs_job_device *jd, uint64_t chunk)
{
	uint64_t	first = chunk * jd->chunk_segments;
	uint64_t	count = jd->nsegments - first;

	if (count > jd->chunk_segments)
		count = jd->chunk_segments;
	return gs_job_rows(job, jd->first_segment + first, count);
}

static gs_status
pack_rows(gs_device_job *job, unsigned d, gs_rows rows, uint64_t *const *packed)
{
	uint64_t	segment = rows.first_row >> GS_SEGMENT_SHIFT;
	gs_plane_rows planes[GS_SECTION_MAX_BITS];

	for (unsigned i = 0; i < job->section.npieces; i++)
	{
		const gs_job_plane *p = &job->planes[job->section.pieces[i].field->plane];

		planes[i].words = p->words + segment;
		planes[i].nulls = p->nulls == NULL ? NULL : p->nulls + segment;
	}
	GS_DO(job, d, pack, GS_QUEUE_WORK, rows, &job->section, planes, packed);
	return GS_OK;
}

/* Returns whether all packed keys of a device are there at once. */
static bool
packed_stay(const gs_job_device *jd)
{
	return jd->chunk_segments >= jd->nsegments;
}

/* Returns whether all of a plane is in device memory. */
static bool
plane_is_resident(const gs_device_job *job, unsigned plane)
{
	return job->planes[plane].uploaded == job->nsegments;
}

/* Has keys be read from a plane's words. */
static void
take_plane(gs_device_job *job)
{
	const gs_field *field = job->section.pieces[0].field;

	job->key_plane = (int) field->plane;
	job->keys.min = field->min;
	job->keys.shift = field->shift;
	if (plane_is_resident(job, field->plane))
		job->kept_plane = job->key_plane;
	for (unsigned d = 0; d < job->ndevices; d++)
		job->devices[d].chunk_segments = job->devices[d].nsegments;
}

/* Has keys take the place of the words of the first plane, which is resident. */
static gs_status
take_place(gs_device_job *job, unsigned d)
{
	gs_job_device *jd = &job->devices[d];

	jd->chunk_segments = jd->nsegments;
	jd->packed_words = malloc(jd->nsegments * sizeof(*jd->packed_words));
	if (jd->packed_words == NULL)
		return gs_job_fail(job, GS_NO_SPACE, "out of memory");
	for (uint64_t s = 0; s < jd->nsegments; s++)
		jd->packed_words[s] = (uint64_t *) job->planes[0].words[jd->first_segment + s];
	job->kept_plane = 0;
	return GS_OK;
}

/*
 * Returns whether packed keys are written over the words of the first plane: if memory is short,
 * and if they are the numbers of whole words of that plane, which nothing else needs.
 */
static bool
pack_in_place(const gs_device_job *job)
{
	return plane_is_resident(job, 0) && !job->in_chunks &&
		((section_is_plane(&job->section) && job->section.pieces[0].field->plane == 0) ||
		 !gs_memory_packs_apart(job));
}

static gs_status
pack_keys(gs_device_job *job)
{
	bool		in_place = pack_in_place(job);

	for (unsigned d = 0; d < job->ndevices; d++)
	{
		gs_job_device *jd = &job->devices[d];

		if (jd->nsegments == 0)
			continue;
		GS_TRY(in_place ? take_place(job, d) : take_packed_memory(job, d));
		gs_job_span_begin(job, d, GS_QUEUE_WORK, "pack");
		if (packed_stay(jd))
			GS_TRY(pack_rows(job, d, chunk_rows(job, jd, 0), jd->packed_words));
		gs_job_span_end(job, d, GS_QUEUE_WORK);
	}
	if (in_place)
		memcpy(job->planes[0].words, job->planes[0].host_words,
			   job->nsegments * sizeof(*job->planes[0].words));
	return GS_OK;
}

/* Returns whether all keys are in device memory. */
static bool
keys_are_resident(const gs_device_job *job)
{
	if (job->key_plane >= 0)
		return job->kept_plane >= 0;
	for (unsigned d = 0; d < job->ndevices; d++)
		if (!packed_stay(&job->devices[d]))
			return false;
	return true;
}

/* Finds the first section of the key, and where it is read. */
gs_status
gs_partition_keys(gs_device_job *job)
{
	uint64_t	key_bits = job->layout.key_bits;

	job->cursor = gs_layout_start(&job->layout);
	gs_section_build(&job->section, &job->layout, &job->cursor,
					 key_bits < GS_SECTION_MAX_BITS ? (unsigned) key_bits : GS_SECTION_MAX_BITS);
	job->keys = (gs_keys) {.width = job->section.width};
	job->key_plane = -1;
	job->kept_plane = -1;
	if (!section_is_plane(&job->section) || job->section.pieces[0].field->numbering != NULL)
		GS_TRY(pack_keys(job));
	else
		take_plane(job);
	job->resident_keys = keys_are_resident(job);
	return GS_OK;
}

/* Gives up all device memory of keys and words; keys are packed in chunks if need be. */
gs_status
gs_partition_evict(gs_device_job *job)
{
	GS_TRY(gs_upload_release(job, -1));
	job->resident_planes = 0;
	for (unsigned d = 0; d < job->ndevices; d++)
	{
		gs_job_device *jd = &job->devices[d];

		gs_job_free(job, d, jd->packed);
		free(jd->packed_words);
		jd->packed = NULL;
		jd->packed_words = NULL;
	}
	job->in_chunks = true;
	return gs_partition_keys(job);
}

/* Sets the rows of a chunk, and where their keys are read; the keys are packed if need be. */
static gs_status
load_chunk(gs_device_job *job, unsigned d, uint64_t chunk, gs_rows *rows, gs_keys *keys)
{
	const gs_job_device *jd = &job->devices[d];

	*rows = chunk_rows(job, jd, chunk);
	*keys = job->keys;
	if (job->key_plane >= 0)
	{
		keys->words = job->planes[job->key_plane].words + (rows->first_row >> GS_SEGMENT_SHIFT);
		return GS_OK;
	}
	keys->words = (const uint64_t *const *) jd->packed_words;
	return packed_stay(jd) ? GS_OK : pack_rows(job, d, *rows, jd->packed_words);
}

/* Has a device count what the plan wants. */
static gs_status
count_keys(gs_device_job *job, unsigned d, unsigned ncounted, const gs_counted *counted)
{
	gs_job_device *jd = &job->devices[d];
	uint64_t	(*counts)[GS_DEVICE_DIGITS] = jd->tables->counts;
	size_t		bytes = ncounted * sizeof(counts[0]);
	void	   *tile_counts = gs_plan_passes(job->plan) == 0 ? jd->tile_counts : NULL;

	gs_job_span_begin(job, d, GS_QUEUE_WORK, "histogram");
	GS_DO(job, d, clear, GS_QUEUE_WORK, counts, bytes);
	for (uint64_t chunk = 0; chunk < count_chunks(jd); chunk++)
	{
		gs_rows		rows;
		gs_keys		keys;

		GS_TRY(load_chunk(job, d, chunk, &rows, &keys));
		GS_DO(job, d, histogram, GS_QUEUE_WORK, rows, keys, ncounted, counted, counts, tile_counts);
	}
	gs_job_span_end(job, d, GS_QUEUE_WORK);
	return GS_OK;
}

/* Downloads what a device has counted. */
static gs_status
fetch_counts(gs_device_job *job, unsigned d, unsigned ncounted)
{
	GS_DO(job, d, download, GS_QUEUE_WORK, job->counts[d], job->devices[d].tables->counts,
		  ncounted * sizeof(job->counts[d][0]));
	return gs_job_sync_queue(job, d, GS_QUEUE_WORK);
}

/* Takes memory for what the histogram leaves to the scatter, which also works without that. */
static void
take_tile_counts(gs_device_job *job, unsigned d)
{
	gs_job_device *jd = &job->devices[d];

	jd->tile_counts = NULL;
	if (count_chunks(jd) == 1)
		jd->tile_counts = gs_job_alloc(job, d, jd->device->ops->tile_counts_bytes(
			jd->device, chunk_rows(job, jd, 0)));
}

static gs_status
begin_plan(gs_device_job *job)
{
	gs_plan_args args = {
		.nrows = job->args.nrows,
		.width = job->keys.width,
		.more_bits = job->cursor.bits_left > 0,
		.ndevices = job->ndevices,
		.nshares = job->nshares,
		.capacity_rows = job->capacity_rows,
		.bucket_rows = gs_memory_bucket_rows(job),
	};

	job->plan = gs_plan_begin(&args);
	if (job->plan == NULL)
		return gs_job_fail(job, GS_NO_SPACE, "out of memory");
	for (unsigned d = 0; d < job->ndevices; d++)
		take_tile_counts(job, d);
	return GS_OK;
}

/* Counts keys until the plan is complete. */
gs_status
gs_partition_plan(gs_device_job *job)
{
	const uint64_t (*counts[GS_MAX_DEVICES])[GS_DEVICE_DIGITS];
	gs_counted	counted[GS_MAX_COUNTED];
	unsigned	ncounted;
	gs_status	status;

	GS_TRY(begin_plan(job));
	while ((ncounted = gs_plan_wanted(job->plan, counted)) > 0)
	{
		for (unsigned d = 0; d < job->ndevices; d++)
			GS_TRY(count_keys(job, d, ncounted, counted));
		for (unsigned d = 0; d < job->ndevices; d++)
		{
			/*
			 * only after all devices have begun: a download to ordinary memory may wait for its
			 * device
			 */
			GS_TRY(fetch_counts(job, d, ncounted));
			counts[d] = (const uint64_t (*)[GS_DEVICE_DIGITS]) job->counts[d];
		}
		status = gs_plan_counted(job->plan, counts);
		if (status != GS_OK)
			return gs_job_fail(job, status, status == GS_INVALID
							   ? "keys changed while they were being sorted" : "out of memory");
	}
	if (gs_plan_finish(job->plan) != GS_OK)
		return gs_job_fail(job, GS_NO_SPACE, "not enough device memory for rows with equal keys");
	return GS_OK;
}

/* Scatters the rows of a device. */
static gs_status
scatter_rows(gs_device_job *job, unsigned round, unsigned d, bool digits)
{
	gs_job_device *jd = &job->devices[d];
	gs_target	targets[GS_MAX_DEVICES];
	gs_scatter	scatter = {
		.id_bytes = job->args.id_bytes,
		.tree = job->tree,
		.positions = jd->tables->positions,
		.tile_counts = digits ? jd->tile_counts : NULL,
		.ntargets = gs_exchange_targets(job, round, d, targets),
		.targets = targets,
		.temp = jd->scatter_temp,
	};

	if (jd->nsegments == 0)
		return GS_OK;
	gs_job_span_begin(job, d, GS_QUEUE_WORK, "scatter");
	GS_DO(job, d, upload, GS_QUEUE_WORK, jd->tables->positions,
		  gs_exchange_positions(job, round, d), sizeof(jd->tables->positions));
	for (uint64_t chunk = 0; chunk < count_chunks(jd); chunk++)
	{
		GS_TRY(load_chunk(job, d, chunk, &scatter.rows, &scatter.keys));
		if (round == 0 && !job->resident_keys)
			GS_TRY(gs_proof_given(job, d, scatter.rows, scatter.keys));
		GS_DO(job, d, scatter, GS_QUEUE_WORK, &scatter);
	}
	gs_job_span_end(job, d, GS_QUEUE_WORK);
	return GS_OK;
}

/*
 * Sums the rows that devices hold, if their keys stay in device memory: then there is time for it
 * while the first ids are downloaded.
 */
gs_status
gs_partition_sum(gs_device_job *job)
{
	for (unsigned d = 0; d < job->ndevices && job->resident_keys; d++)
		for (uint64_t chunk = 0; chunk < count_chunks(&job->devices[d]); chunk++)
		{
			gs_rows		rows;
			gs_keys		keys;

			GS_TRY(load_chunk(job, d, chunk, &rows, &keys));
			GS_TRY(gs_proof_given(job, d, rows, keys));
		}
	return GS_OK;
}

/* Has the memory of shares be that of a round, once nothing uses it any more. */
static gs_status
take_turn(gs_device_job *job, unsigned round)
{
	/* the sorts on the second queue come before what is on the first one now */
	static const gs_queue busy[] = {GS_QUEUE_WORK, GS_QUEUE_DOWN};

	if (round > 0)
		GS_TRY(gs_exchange_meet(job, busy, job->overlap ? 1 : 2));
	if (!job->overlap)
		return GS_OK;
	for (unsigned d = 0; d < job->ndevices; d++)
	{
		job->devices[d].pairs = job->devices[d].turn_pairs[round % 2];
		job->devices[d].bitmap = job->devices[d].turn_bitmaps[round % 2];
	}
	return gs_result_await_turn(job, round % 2);
}

/* Brings the rows of a round's shares to their devices. */
gs_status
gs_partition_round(gs_device_job *job, unsigned round)
{
	bool		digits;

	gs_exchange_tree(job, round, &digits);
	GS_TRY(take_turn(job, round));
	GS_TRY(gs_proof_begin_round(job));
	for (unsigned d = 0; d < job->ndevices; d++)
		GS_TRY(scatter_rows(job, round, d, digits));
	return gs_exchange_rows(job, round);
}
