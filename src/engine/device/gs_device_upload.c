/*
 * gs_device_upload.c
 *		Uploading words to the devices, and what they say about the key.
 *
 * Rows are dealt out by segments: each device has consecutive segments, so that rows on a device
 * come before those on the next.  The words of the leading planes are uploaded as far as memory
 * goes; the devices read other words where they lie, in host memory, in all operations that read
 * words.  That is decided segment by segment: kernels take a table of pointers.
 *
 * Words are uploaded in groups of segments, and the statistics of a group are collected on another
 * queue while the next group is on its way.
 *
 * Ahead of the run, when rows are still arriving, full segments are dealt out by the number of rows
 * expected.  It is not known then which rows are null, and which planes' words are bytes of
 * strings, so the statistics of such planes are collected again, by a read of device memory.  If
 * the number of rows turns out so different that a device would have far too many, everything is
 * uploaded anew.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/device/gs_device_private.h"

/* How many segments are given memory in one piece: a *run*. */
#define RUN_SEGMENTS	16

/*
 * So many groups of each device, at most, are on their way while keys are sampled: to read 65536
 * keys takes a host one or two ms, which are as many groups of 16 MB.
 */
#define SAMPLING_GROUPS	8

/* A device may have so many quarters of an equal share of the segments: a quarter too much. */
#define MOST_QUARTERS	5

static uint64_t
segments_of(uint64_t nrows)
{
	return (nrows + GS_SEGMENT_ROWS - 1) >> GS_SEGMENT_SHIFT;
}

/* Returns how many devices so many rows are worth. */
static unsigned
devices_for(const gs_device_job *job, uint64_t nrows)
{
	uint64_t	devices = nrows / job->options.device_rows;

	if (devices > job->group->ndevices)
		return job->group->ndevices;
	return devices == 0 ? 1 : (unsigned) devices;
}

/* Deals segments out to the devices; if there are more than expected, the last device gets them. */
static void
deal_segments(gs_device_job *job, uint64_t nsegments, unsigned ndevices)
{
	job->ndevices = ndevices;
	for (unsigned d = 0; d < ndevices; d++)
		job->first_segments[d] = nsegments * d / ndevices;
	job->first_segments[ndevices] = UINT64_MAX;
}

void
gs_upload_expect(gs_device_job *job, uint64_t nrows)
{
	job->nsegments = segments_of(nrows);
	deal_segments(job, job->nsegments, devices_for(job, nrows));
}

static unsigned
device_of_segment(const gs_device_job *job, uint64_t segment)
{
	unsigned	d = 0;

	while (segment >= job->first_segments[d + 1])
		d++;
	return d;
}

/* Makes room for segments [0, count) in a plane's table of words. */
static bool
reserve_words(gs_job_plane *plane, uint64_t count)
{
	uint64_t	room = plane->room == 0 ? 64 : plane->room;
	const uint64_t **words;

	while (room < count)
		room *= 2;
	if (room == plane->room)
		return true;
	words = realloc(plane->words, room * sizeof(*words));
	if (words == NULL)
		return false;
	memset(words + plane->room, 0, (room - plane->room) * sizeof(*words));
	plane->words = words;
	plane->room = room;
	return true;
}

static bool
reserve_run(gs_job_plane *plane)
{
	unsigned	room = plane->run_room == 0 ? 16 : 2 * plane->run_room;
	gs_words_run *runs;

	if (plane->nruns < plane->run_room)
		return true;
	runs = realloc(plane->runs, room * sizeof(*runs));
	if (runs == NULL)
		return false;
	plane->runs = runs;
	plane->run_room = room;
	return true;
}

/* Returns how many segments a run from `segment` on should have: as many as have no memory yet. */
static uint64_t
run_length(const gs_device_job *job, const gs_job_plane *plane, unsigned d, uint64_t segment)
{
	uint64_t	end = segment - segment % RUN_SEGMENTS + RUN_SEGMENTS;
	uint64_t	last = job->nsegments > segment ? job->nsegments : segment + 1;

	if (end > job->first_segments[d + 1])
		end = job->first_segments[d + 1];
	if (end > last)
		end = last;
	for (unsigned i = 0; i < plane->nruns; i++)
		if (plane->runs[i].first_segment > segment && plane->runs[i].first_segment < end)
			end = plane->runs[i].first_segment;
	return end - segment;
}

/* Returns the bytes of a run's words; the last segment is as long as its rows. */
static size_t
run_bytes(const gs_device_job *job, const gs_words_run *run)
{
	uint64_t	first_row = run->first_segment << GS_SEGMENT_SHIFT;
	uint64_t	nrows = run->nsegments << GS_SEGMENT_SHIFT;

	if (job->args.nrows > first_row && job->args.nrows - first_row < nrows)
		nrows = job->args.nrows - first_row;
	return nrows * sizeof(uint64_t);
}

/* Returns where a segment's words go on the device, or NULL if there is no room. */
static uint64_t *
place_segment(gs_device_job *job, gs_job_plane *plane, unsigned d, uint64_t segment)
{
	gs_words_run run = {.device = d, .first_segment = segment};

	for (unsigned i = plane->nruns; i-- > 0;)
	{
		const gs_words_run *r = &plane->runs[i];

		if (segment - r->first_segment < r->nsegments)
			return r->words + ((segment - r->first_segment) << GS_SEGMENT_SHIFT);
	}

	if (!reserve_run(plane))
		return NULL;
	run.nsegments = run_length(job, plane, d, segment);
	run.words = gs_job_alloc(job, d, run_bytes(job, &run));
	if (run.words == NULL)
	{
		run.nsegments = 1;
		run.words = gs_job_alloc(job, d, run_bytes(job, &run));
	}
	if (run.words != NULL)
		plane->runs[plane->nruns++] = run;
	return run.words;
}

static gs_status
fold_rows(gs_device_job *job, unsigned d, unsigned plane, gs_rows rows)
{
	const gs_job_plane *p = &job->planes[plane];
	uint64_t	segment = rows.first_row >> GS_SEGMENT_SHIFT;
	gs_plane_rows words = {
		.words = p->words + segment,
		.nulls = p->nulls == NULL ? NULL : p->nulls + segment,
	};

	gs_alphabets *alphabets = job->devices[d].alphabets;

	GS_DO(job, d, plane_stats, GS_QUEUE_WORK, rows, words, &job->devices[d].tables->stats[plane],
		  alphabets != NULL && job->args.planes[plane].bytes ? &alphabets[plane] : NULL);
	return GS_OK;
}

/*
 * Uploads rows, whose words lie side by side on both sides, and collects their statistics if
 * `fold`.
 */
static gs_status
upload_rows(gs_device_job *job, unsigned d, unsigned plane, gs_rows rows, const uint64_t *from,
			bool fold)
{
	uint64_t	segment = rows.first_row >> GS_SEGMENT_SHIFT;
	void	   *to = (void *) job->planes[plane].words[segment];

	GS_DO(job, d, upload, GS_QUEUE_UP, to, from, rows.nrows * sizeof(uint64_t));
	GS_TRY(gs_job_follow(job, d, GS_QUEUE_WORK, d, GS_QUEUE_UP));
	return fold ? fold_rows(job, d, plane, rows) : GS_OK;
}

/* Uploads a full segment ahead, if there is room. */
gs_status
gs_upload_ahead(gs_device_job *job, unsigned plane, uint64_t segment, const uint64_t *words)
{
	gs_job_plane *p = &job->planes[plane];
	unsigned	d = device_of_segment(job, segment);
	gs_rows		rows = {segment << GS_SEGMENT_SHIFT, GS_SEGMENT_ROWS};
	uint64_t   *to;

	if (!reserve_words(p, segment + 1) || p->words[segment] != NULL)
		return GS_OK;
	GS_TRY(gs_job_open_device(job, d));
	to = place_segment(job, p, d, segment);
	if (to == NULL)
		return GS_OK;
	p->words[segment] = to;
	p->uploaded++;
	return upload_rows(job, d, plane, rows, words, true);
}

/* Gives back a plane's device memory, which nothing may be using. */
static void
free_runs(gs_device_job *job, gs_job_plane *plane)
{
	for (unsigned i = 0; i < plane->nruns; i++)
		gs_job_free(job, plane->runs[i].device, plane->runs[i].words);
	plane->nruns = 0;
	plane->uploaded = 0;
}

/* Begins the statistics of a plane anew. */
static gs_status
clear_stats(gs_device_job *job, unsigned plane)
{
	for (unsigned d = 0; d < job->group->ndevices; d++)
	{
		gs_job_device *jd = &job->devices[d];

		if (jd->tables != NULL)
			GS_DO(job, d, upload, GS_QUEUE_WORK, &jd->tables->stats[plane],
				  &job->stats[d][plane], sizeof(gs_plane_stats));
	}
	return GS_OK;
}

/* Makes it as if nothing of the plane had been uploaded. */
gs_status
gs_upload_forget(gs_device_job *job, unsigned plane)
{
	gs_job_plane *p = &job->planes[plane];

	if (p->uploaded == 0)
		return GS_OK;
	/* the statistics' queue has waited for all uploads */
	for (unsigned d = 0; d < job->group->ndevices; d++)
		if (job->devices[d].tables != NULL)
			GS_TRY(gs_job_sync_queue(job, d, GS_QUEUE_WORK));
	free_runs(job, p);
	memset(p->words, 0, p->room * sizeof(*p->words));
	return clear_stats(job, plane);
}

/* Does the same for all planes, after their memory has been taken away. */
void
gs_upload_drop(gs_device_job *job)
{
	for (unsigned plane = 0; plane < GS_MAX_PLANES; plane++)
	{
		gs_job_plane *p = &job->planes[plane];

		p->nruns = 0;
		p->uploaded = 0;
		if (p->room > 0)
			memset(p->words, 0, p->room * sizeof(*p->words));
	}
}

/*
 * Frees the device memory of the words of all planes but one (kept), or of all if that is -1.  The
 * words are read in host memory from here on.
 */
gs_status
gs_upload_release(gs_device_job *job, int kept)
{
	for (unsigned d = 0; d < job->ndevices; d++)
		GS_TRY(gs_job_sync_queue(job, d, GS_QUEUE_WORK));
	for (unsigned plane = 0; plane < job->args.nplanes; plane++)
	{
		gs_job_plane *p = &job->planes[plane];

		if ((int) plane == kept)
			continue;
		if (p->nruns > 0)
			memcpy(p->words, p->host_words, job->nsegments * sizeof(*p->words));
		free_runs(job, p);
	}
	return GS_OK;
}

/* Finds where a plane's words and null bits lie in host memory. */
static gs_status
find_words(gs_device_job *job, unsigned plane)
{
	gs_job_plane *p = &job->planes[plane];
	const gs_span_plane *args = &job->args.planes[plane];

	p->host_words = malloc((job->nsegments + 1) * sizeof(*p->host_words));
	if (p->host_words == NULL || !reserve_words(p, job->nsegments))
		return GS_NO_SPACE;
	for (uint64_t s = 0; s < job->nsegments; s++)
		p->host_words[s] = gs_span_at(args->words, (s << GS_SEGMENT_SHIFT) * sizeof(uint64_t));
	if (args->nulls.parts == NULL)
		return GS_OK;

	p->nulls = malloc((job->nsegments + 1) * sizeof(*p->nulls));
	if (p->nulls == NULL)
		return GS_NO_SPACE;
	for (uint64_t s = 0; s < job->nsegments; s++)
		p->nulls[s] = gs_span_at(args->nulls, (s << GS_SEGMENT_SHIFT) / 8);
	return GS_OK;
}

/* Takes memory for the alphabets of planes, if any are to be collected. */
static gs_status
begin_alphabets(gs_device_job *job)
{
	unsigned	nplanes = job->args.nplanes;
	size_t		bytes = nplanes * sizeof(gs_alphabets);
	bool		any = false;

	for (unsigned plane = 0; plane < nplanes; plane++)
		any |= job->args.planes[plane].bytes;
	if (!any || job->args.nrows < GS_NUMBERING_MIN_ROWS)
		return GS_OK;
	job->alphabets = malloc(job->ndevices * bytes);
	if (job->alphabets == NULL)
		return gs_job_fail(job, GS_NO_SPACE, "out of memory");
	for (unsigned d = 0; d < job->ndevices; d++)
	{
		job->devices[d].alphabets = gs_job_alloc(job, d, bytes);
		if (job->devices[d].alphabets == NULL)
			return gs_job_fail(job, GS_NO_SPACE, "not enough device memory");
		GS_DO(job, d, clear, GS_QUEUE_WORK, job->devices[d].alphabets, bytes);
	}
	return GS_OK;
}

/* Returns the most segments that one device has, as they are dealt out. */
static uint64_t
most_segments(const gs_device_job *job)
{
	uint64_t	most = 0;

	for (unsigned d = 0; d < job->ndevices; d++)
	{
		uint64_t	begin = job->first_segments[d];
		uint64_t	end = job->first_segments[d + 1];

		end = end < job->nsegments ? end : job->nsegments;
		if (begin < end && end - begin > most)
			most = end - begin;
	}
	return most;
}

/* Returns whether a segment was uploaded that turned out not to be full. */
static bool
uploaded_too_much(const gs_device_job *job)
{
	uint64_t	full = job->args.nrows >> GS_SEGMENT_SHIFT;

	for (unsigned plane = 0; plane < job->fed_planes; plane++)
		for (uint64_t s = full; s < job->planes[plane].room; s++)
			if (job->planes[plane].words[s] != NULL)
				return true;
	return false;
}

/*
 * Deals out the segments, now that their number is known.  What was uploaded ahead stays if the
 * devices' shares come out nearly equal.
 */
static gs_status
settle_segments(gs_device_job *job)
{
	unsigned	ndevices = devices_for(job, job->args.nrows);
	uint64_t	ideal = (job->nsegments + ndevices - 1) / ndevices;
	bool		keep = false;

	for (unsigned plane = 0; plane < job->fed_planes; plane++)
		keep |= job->planes[plane].uploaded > 0;
	keep = keep && !uploaded_too_much(job) &&
		4 * most_segments(job) <= MOST_QUARTERS * ideal + 4;

	if (!keep)
		deal_segments(job, job->nsegments, ndevices);
	job->resident_planes = gs_memory_planes(job, job->args.nrows, job->args.nplanes, false);
	for (unsigned plane = 0; plane < job->fed_planes; plane++)
		if (!keep || plane >= job->resident_planes)
			GS_TRY(gs_upload_forget(job, plane));

	for (unsigned d = 0; d < job->ndevices; d++)
	{
		gs_job_device *jd = &job->devices[d];
		uint64_t	begin = job->first_segments[d];
		uint64_t	end = job->first_segments[d + 1];

		begin = begin < job->nsegments ? begin : job->nsegments;
		end = end < job->nsegments ? end : job->nsegments;
		jd->first_segment = begin;
		jd->nsegments = end - begin;
		GS_TRY(gs_job_open_device(job, d));
	}
	return GS_OK;
}

/*
 * Uploads the segments from *segment on that belong together, and moves *segment behind them.
 * Segments that find no room are read where they are.
 */
static gs_status
upload_group(gs_device_job *job, unsigned d, unsigned plane, uint64_t *segment, bool fold)
{
	gs_job_plane *p = &job->planes[plane];
	uint64_t	end = job->devices[d].first_segment + job->devices[d].nsegments;
	uint64_t	first = *segment;
	bool		resident = plane < job->resident_planes;

	if (job->lean)
		GS_TRY(gs_lean_await(job, d, first));
	for (; *segment < end && *segment - first < GS_GROUP_SEGMENTS; ++*segment)
	{
		uint64_t	s = *segment;
		const uint64_t *to;

		if (p->words[s] != NULL || (job->lean && s > first && gs_lean_half_begins(job, d, s)))
			break;
		to = job->lean ? gs_lean_land(job, d, s) : resident ? place_segment(job, p, d, s) : NULL;
		if (s > first && (to == NULL || to != p->words[s - 1] + GS_SEGMENT_ROWS ||
						  p->host_words[s] != p->host_words[s - 1] + GS_SEGMENT_ROWS))
			break;
		p->words[s] = to;
		if (to == NULL)
			break;
		p->uploaded++;
	}
	if (*segment > first)
		return upload_rows(job, d, plane, gs_job_rows(job, first, *segment - first),
						   p->host_words[first], fold);
	if (p->words[first] != NULL)
	{
		++*segment;
		return GS_OK;
	}

	/* there is no room, nor will there be for the segments that follow */
	for (; *segment < end && p->words[*segment] == NULL; ++*segment)
		p->words[*segment] = p->host_words[*segment];
	return fold ? fold_rows(job, d, plane, gs_job_rows(job, first, *segment - first)) : GS_OK;
}

/* Returns after how many groups of each device keys are sampled; UINT64_MAX: they are not. */
static uint64_t
groups_before_guess(const gs_device_job *job)
{
	uint64_t	groups = most_segments(job) / GS_GROUP_SEGMENTS / 4;

	if (!gs_guess_wanted(job))
		return UINT64_MAX;
	groups = groups < SAMPLING_GROUPS ? groups : SAMPLING_GROUPS;
	for (unsigned d = 0; d < job->ndevices && job->lean; d++)
		if (groups > 2 * job->devices[d].half_segments / GS_GROUP_SEGMENTS)
			groups = 2 * job->devices[d].half_segments / GS_GROUP_SEGMENTS;
	return groups;
}

/*
 * Guesses where rows go, and has those scattered that have been uploaded so far.  If there is no
 * guess, words that have landed are uploaded again.
 */
static gs_status
make_guess(gs_device_job *job, uint64_t *next)
{
	GS_TRY(gs_guess_make(job));
	for (unsigned d = 0; d < job->ndevices; d++)
	{
		if (job->words_lost)
			next[d] = job->devices[d].first_segment;
		GS_TRY(gs_guess_scatter(job, d, next[d]));
	}
	job->words_lost = false;
	return GS_OK;
}

/*
 * Uploads what is missing of a plane, by turns so that all devices are busy, and has rows scattered
 * that have arrived, if there is a guess of where they go.
 */
static gs_status
upload_plane(gs_device_job *job, unsigned plane)
{
	gs_job_plane *p = &job->planes[plane];
	bool		bytes = job->alphabets != NULL && job->args.planes[plane].bytes;
	bool		again = (p->nulls != NULL || bytes) && p->uploaded > 0;
	uint64_t	next[GS_MAX_DEVICES];
	uint64_t	guess_at;
	bool		more = true;

	gs_lean_begin(job);
	guess_at = groups_before_guess(job);
	if (again)
		GS_TRY(clear_stats(job, plane));
	for (unsigned d = 0; d < job->ndevices; d++)
		next[d] = job->devices[d].first_segment;
	for (uint64_t turn = 0; more; turn++)
	{
		more = false;
		GS_TRY(gs_job_poll(job));
		if (turn == guess_at)
			GS_TRY(make_guess(job, next));
		for (unsigned d = 0; d < job->ndevices; d++)
			if (next[d] < job->devices[d].first_segment + job->devices[d].nsegments)
			{
				GS_TRY(upload_group(job, d, plane, &next[d], !again));
				GS_TRY(gs_guess_scatter(job, d, next[d]));
				more = true;
			}
	}
	for (unsigned d = 0; d < job->ndevices && again; d++)
		if (job->devices[d].nsegments > 0)
			GS_TRY(fold_rows(job, d, plane, gs_job_rows(job, job->devices[d].first_segment,
															 job->devices[d].nsegments)));
	return GS_OK;
}

/*
 * Uploads the words of the first plane anew, which a guess has lost; they have been folded into the
 * statistics before, and once more does not change these.
 */
gs_status
gs_upload_again(gs_device_job *job)
{
	job->words_lost = false;
	return upload_plane(job, 0);
}

/* Puts the uploads of all words on queues, and the collection of their statistics. */
gs_status
gs_upload_planes(gs_device_job *job)
{
	job->nsegments = segments_of(job->args.nrows);
	GS_TRY(settle_segments(job));
	for (unsigned plane = 0; plane < job->args.nplanes; plane++)
		if (find_words(job, plane) != GS_OK)
			return gs_job_fail(job, GS_NO_SPACE, "out of memory");
	GS_TRY(begin_alphabets(job));

	for (unsigned d = 0; d < job->ndevices; d++)
	{
		gs_job_span_begin(job, d, GS_QUEUE_UP, "upload");
		gs_job_span_begin(job, d, GS_QUEUE_WORK, "statistics");
	}
	for (unsigned plane = 0; plane < job->args.nplanes; plane++)
		GS_TRY(upload_plane(job, plane));
	GS_TRY(gs_guess_ask(job));
	for (unsigned d = 0; d < job->ndevices; d++)
	{
		gs_job_span_end(job, d, GS_QUEUE_WORK);
		gs_job_span_end(job, d, GS_QUEUE_UP);
	}
	return GS_OK;
}

static void
add_stats(gs_plane_stats *sum, const gs_plane_stats *stats)
{
	sum->min = stats->min < sum->min ? stats->min : sum->min;
	sum->max = stats->max > sum->max ? stats->max : sum->max;
	sum->all_and &= stats->all_and;
	sum->all_or |= stats->all_or;
	sum->nulls += stats->nulls;
}

/* Makes the numbering of a plane's words, if they are bytes of strings and it pays. */
static gs_status
number_words(gs_device_job *job, unsigned plane, const gs_plane_stats *stats)
{
	gs_job_plane *p = &job->planes[plane];
	gs_alphabets sum = {0};

	if (job->alphabets == NULL || !job->args.planes[plane].bytes)
		return GS_OK;
	for (unsigned d = 0; d < job->ndevices; d++)
	{
		const gs_alphabets *alphabets = &job->alphabets[d * job->args.nplanes + plane];

		for (unsigned position = 0; position < GS_WORD_BYTES; position++)
			for (unsigned i = 0; i < GS_BYTE_VALUES / 64; i++)
				sum.seen[position][i] |= alphabets->seen[position][i];
	}
	p->numbering = malloc(sizeof(*p->numbering));
	if (p->numbering == NULL)
		return gs_job_fail(job, GS_NO_SPACE, "out of memory");
	if (!gs_numbering_make(p->numbering, stats, &sum))
	{
		free(p->numbering);
		p->numbering = NULL;
	}
	return GS_OK;
}

/* Downloads the statistics of all devices. */
static gs_status
fetch_stats(gs_device_job *job)
{
	unsigned	nplanes = job->args.nplanes;

	for (unsigned d = 0; d < job->ndevices; d++)
	{
		GS_DO(job, d, download, GS_QUEUE_WORK, job->stats[d], job->devices[d].tables->stats,
			  nplanes * sizeof(gs_plane_stats));
		if (job->alphabets != NULL)
			GS_DO(job, d, download, GS_QUEUE_WORK, job->alphabets + d * nplanes,
				  job->devices[d].alphabets, nplanes * sizeof(gs_alphabets));
	}
	for (unsigned d = 0; d < job->ndevices; d++)
		GS_TRY(gs_job_sync_queue(job, d, GS_QUEUE_WORK));
	return GS_OK;
}

/* Waits for the statistics, and lays out the key. */
gs_status
gs_upload_layout(gs_device_job *job)
{
	GS_TRY(fetch_stats(job));

	gs_layout_clear(&job->layout);
	for (unsigned p = 0; p < job->args.nplanes; p++)
	{
		gs_plane_stats sum = GS_PLANE_STATS_INIT;
		gs_plane	plane = {.null_order = job->args.planes[p].null_order};

		for (unsigned d = 0; d < job->ndevices; d++)
			add_stats(&sum, &job->stats[d][p]);
		GS_TRY(number_words(job, p, &sum));
		plane.numbering = job->planes[p].numbering;
		gs_layout_add_plane(&job->layout, p, &plane, &sum, job->args.nrows);
		GS_TRY(gs_guess_hold(job, sum.min, sum.max));
	}
	return job->words_lost ? gs_upload_again(job) : GS_OK;
}
