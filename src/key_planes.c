/*
 * key_planes.c
 *		Which planes the engine sorts by.
 *
 * Planes of all columns, in order, up to the first one whose strings go on
 * behind their first word: what lies behind an undecided prefix must not take
 * part, and is left to the refinement (key_refine.c).
 *
 * If all strings of that column begin alike (a protocol, a path, a tag), their
 * first words tell nothing.  The prefixes are then taken from behind what they
 * share, which is known from collecting.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "sort_internal.h"

/*
 * Leading bytes that all strings of a column must share for its prefixes to be
 * rebuilt behind them.  A pass over all strings costs 10-20 ns a row, each byte
 * left out halves the ties up to 8 times.
 */
#define MIN_COMMON_BYTES 3

/* Fill the column's prefix plane with the words behind what its strings share. */
static void
rebase_prefix(GpuSort *sort, GpuSortColumn *column)
{
	uint64	   *prefix = RANGE_U64(column->prefix);
	const uint64 *refs = RANGE_U64(column->refs);

	column->base = column->common_len;
	column->long_keys = false;
	for (uint64 id = 0; id < sort->nrows; id++)
	{
		uint32		len;

		if ((id & 0xffff) == 0)
			CHECK_FOR_INTERRUPTS();
		if (column_is_null(column, (uint32) id))
			continue;
		len = KEY_REF_LENGTH(refs[id]);
		prefix[id] = bytes_word(column->bytes, string_by_ref(sort, refs[id]), len,
								column->base) ^ column->flip;
		column->long_keys |= bytes_continue(column->bytes, len, column->base);
	}
}

/*
 * Fill planes[] (three a column at most) with what the engine is to sort by and
 * return how many; sets refine_column to the column whose strings go on behind
 * the last of them, or -1.
 */
unsigned
gpusort_engine_planes(GpuSort *sort, gs_plane *planes)
{
	unsigned	n = 0;

	sort->refine_column = -1;
	for (int i = 0; i < sort->ncolumns; i++)
	{
		GpuSortColumn *column = &sort->columns[i];
		const uint64 *nulls = column->nulls != NULL ? RANGE_U64(column->nulls) : NULL;
		gs_null_order null_order = column->nulls_first ? GS_NULLS_FIRST : GS_NULLS_LAST;

		if (column->bytes != GPUSORT_BYTES_NONE)
		{
			if (column->long_keys && column->common_len >= MIN_COMMON_BYTES)
				rebase_prefix(sort, column);
			planes[n++] = (gs_plane) {RANGE_U64(column->prefix), nulls, null_order};
			null_order = GS_NULLS_NONE;
			if (column->long_keys)
			{
				sort->refine_column = i;
				return n;
			}
		}
		for (int w = 0; w < column->nwords; w++)
		{
			planes[n++] = (gs_plane) {RANGE_U64(column->words[w]), nulls, null_order};
			null_order = GS_NULLS_NONE;
		}
	}
	return n;
}
