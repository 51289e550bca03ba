/*
 * gs_key.c
 *		Reads the planes once, to find the bits of the key.
 *
 * Bytes of strings are looked at only if a sample of the words says that numbering them pays.  That
 * is a good test: the sample's alphabets are no larger than those of all words, and its range is
 * hardly narrower.
 */
#include "engine/gs_engine.h"
#include "engine/host/gs_sort_private.h"

/* So many rows are read between two looks at *cancel: about 20 microseconds. */
#define STATS_BLOCK_ROWS	(UINT64_C(1) << 15)

#define SAMPLE_ROWS	1024

/* Returns whether a sample of the plane's words would be worth numbering. */
static bool
sample_pays(const gs_plane *plane, uint64_t nrows)
{
	uint64_t	words[SAMPLE_ROWS];
	gs_plane	sample = {.words = words};
	gs_plane_stats stats = GS_PLANE_STATS_INIT;
	gs_alphabets alphabets = {0};
	unsigned	count = 0;

	for (uint64_t row = 0; row < nrows; row += nrows / SAMPLE_ROWS + 1)
		if (plane->nulls == NULL || (plane->nulls[row >> 6] >> (row & 63) & 1) == 0)
			words[count++] = plane->words[row];
	gs_plane_stats_fold(&stats, &sample, 0, count);
	gs_alphabets_fold(&alphabets, &sample, 0, count);
	return gs_numbering_make(plane->numbering, &stats, &alphabets);
}

static bool
is_numbered(gs_numbered *numbered, unsigned plane, const gs_sort_args *args)
{
	if (!numbered->planes[plane].asked)
	{
		numbered->planes[plane].asked = true;
		numbered->planes[plane].pays = args->planes[plane].numbering != NULL &&
			args->nrows >= GS_NUMBERING_MIN_ROWS && sample_pays(&args->planes[plane], args->nrows);
	}
	return numbered->planes[plane].pays;
}

/* merge_min() and merge_max() fold a value into a minimum or maximum of several participants. */
static void
merge_min(_Atomic uint64_t *least, uint64_t value)
{
	uint64_t	old = atomic_load(least);

	while (value < old && !atomic_compare_exchange_weak(least, &old, value))
		;
}

static void
merge_max(_Atomic uint64_t *greatest, uint64_t value)
{
	uint64_t	old = atomic_load(greatest);

	while (value > old && !atomic_compare_exchange_weak(greatest, &old, value))
		;
}

static void
merge_stats(gs_merged_stats *merged, const gs_plane_stats *stats, const gs_alphabets *alphabets)
{
	merge_min(&merged->min, stats->min);
	merge_max(&merged->max, stats->max);
	atomic_fetch_and(&merged->all_and, stats->all_and);
	atomic_fetch_or(&merged->all_or, stats->all_or);
	atomic_fetch_add(&merged->nulls, stats->nulls);
	for (unsigned p = 0; p < GS_WORD_BYTES; p++)
		for (unsigned i = 0; i < GS_BYTE_VALUES / 64; i++)
			if (alphabets->seen[p][i] != 0)
				atomic_fetch_or(&merged->seen[p][i], alphabets->seen[p][i]);
}

gs_status
gs_key_fold(gs_merged_stats *stats, gs_numbered *numbered, const gs_sort_args *args,
			gs_range rows)
{
	for (unsigned i = 0; i < args->nplanes; i++)
	{
		gs_plane_stats found = GS_PLANE_STATS_INIT;
		gs_alphabets alphabets = {0};
		uint64_t	end;

		for (uint64_t row = rows.begin; row < rows.end; row = end)
		{
			end = row + STATS_BLOCK_ROWS < rows.end ? row + STATS_BLOCK_ROWS : rows.end;
			if (gs_cancelled(args->cancel) || gs_cancelled(args->also_cancel))
				return GS_CANCELLED;
			gs_plane_stats_fold(&found, &args->planes[i], row, end);
			if (is_numbered(numbered, i, args))
				gs_alphabets_fold(&alphabets, &args->planes[i], row, end);
			gs_progress_advance(args->progress, (double) (end - row) * GS_KEY_COST);
		}
		merge_stats(&stats[i], &found, &alphabets);
	}
	return GS_OK;
}

/* Reads the statistics and alphabets of one plane, which several participants have merged. */
static void
read_stats(gs_plane_stats *stats, gs_alphabets *alphabets, const gs_merged_stats *merged)
{
	stats->min = atomic_load(&merged->min);
	stats->max = atomic_load(&merged->max);
	stats->all_and = atomic_load(&merged->all_and);
	stats->all_or = atomic_load(&merged->all_or);
	stats->nulls = atomic_load(&merged->nulls);
	for (unsigned p = 0; p < GS_WORD_BYTES; p++)
		for (unsigned i = 0; i < GS_BYTE_VALUES / 64; i++)
			alphabets->seen[p][i] = atomic_load(&merged->seen[p][i]);
}

void
gs_key_read(gs_layout *layout, const gs_sort_args *args, gs_numbered *numbered,
			const gs_merged_stats *stats)
{
	gs_layout_clear(layout);
	for (unsigned i = 0; i < args->nplanes; i++)
	{
		gs_plane	plane = args->planes[i];
		gs_plane_stats found;
		gs_alphabets alphabets;

		read_stats(&found, &alphabets, &stats[i]);
		if (!is_numbered(numbered, i, args) ||
			!gs_numbering_make(plane.numbering, &found, &alphabets))
			plane.numbering = NULL;
		gs_layout_add_plane(layout, i, &plane, &found, args->nrows);
	}
}

gs_status
gs_key_build(gs_layout *layout, const gs_sort_args *args)
{
	gs_numbered numbered = {0};
	gs_merged_stats stats[GS_MAX_PLANES];

	for (unsigned i = 0; i < args->nplanes; i++)
		stats[i] = (gs_merged_stats) GS_MERGED_STATS_INIT;
	GS_TRY(gs_key_fold(stats, &numbered, args, (gs_range) {0, args->nrows}));
	gs_key_read(layout, args, &numbered, stats);
	return GS_OK;
}
