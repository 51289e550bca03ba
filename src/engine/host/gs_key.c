/*
 * gs_key.c
 *		Reads the planes once, to find the bits of the key.
 */
#include "engine/gs_bits.h"
#include "engine/host/gs_key.h"

/* Rows between two looks at *cancel: about 20 microseconds. */
#define STATS_BLOCK_ROWS	(UINT64_C(1) << 15)

static gs_status
collect_stats(gs_plane_stats *stats, const gs_plane *plane, const gs_sort_args *args)
{
	*stats = (gs_plane_stats) GS_PLANE_STATS_INIT;

	for (uint64_t row = 0; row < args->nrows; row += STATS_BLOCK_ROWS)
	{
		uint64_t	left = args->nrows - row;
		uint64_t	end = row + (left < STATS_BLOCK_ROWS ? left : STATS_BLOCK_ROWS);

		if (gs_cancelled(args->cancel) || gs_cancelled(args->also_cancel))
			return GS_CANCELLED;
		gs_plane_stats_fold(stats, plane, row, end);
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
		gs_plane_stats stats;

		if (collect_stats(&stats, &args->planes[i], args) != GS_OK)
			return GS_CANCELLED;
		gs_layout_add_plane(layout, i, &args->planes[i], &stats, args->nrows);
	}
	return GS_OK;
}
