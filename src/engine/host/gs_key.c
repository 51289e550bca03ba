/*
 * gs_key.c
 *		Reads the planes once, to find the bits of the key.
 *
 * Bytes of strings are looked at only if a sample of the words says that numbering them
 * pays: it has no larger alphabets than all of them, and hardly a narrower range.
 */
#include "engine/gs_bits.h"
#include "engine/gs_numbering.h"
#include "engine/host/gs_key.h"

/* Rows between two looks at *cancel: about 20 microseconds. */
#define STATS_BLOCK_ROWS	(UINT64_C(1) << 15)

#define SAMPLE_ROWS	1024

/* Would some words of the plane be worth numbering? */
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

/* alphabets may be NULL. */
static gs_status
collect_stats(gs_plane_stats *stats, gs_alphabets *alphabets, const gs_plane *plane,
			  const gs_sort_args *args)
{
	*stats = (gs_plane_stats) GS_PLANE_STATS_INIT;

	for (uint64_t row = 0; row < args->nrows; row += STATS_BLOCK_ROWS)
	{
		uint64_t	left = args->nrows - row;
		uint64_t	end = row + (left < STATS_BLOCK_ROWS ? left : STATS_BLOCK_ROWS);

		if (gs_cancelled(args->cancel) || gs_cancelled(args->also_cancel))
			return GS_CANCELLED;
		gs_plane_stats_fold(stats, plane, row, end);
		if (alphabets != NULL)
			gs_alphabets_fold(alphabets, plane, row, end);
		gs_progress_advance(args->progress, (double) (end - row) * GS_KEY_COST);
	}
	return GS_OK;
}

gs_status
gs_key_build(gs_layout *layout, const gs_sort_args *args)
{
	gs_layout_clear(layout);
	for (unsigned i = 0; i < args->nplanes; i++)
	{
		gs_plane	plane = args->planes[i];
		gs_plane_stats stats;
		gs_alphabets alphabets = {0};
		bool		numbered = plane.numbering != NULL && args->nrows >= GS_NUMBERING_MIN_ROWS &&
			sample_pays(&plane, args->nrows);

		if (collect_stats(&stats, numbered ? &alphabets : NULL, &plane, args) != GS_OK)
			return GS_CANCELLED;
		if (!numbered || !gs_numbering_make(plane.numbering, &stats, &alphabets))
			plane.numbering = NULL;
		gs_layout_add_plane(layout, i, &plane, &stats, args->nrows);
	}
	return GS_OK;
}
