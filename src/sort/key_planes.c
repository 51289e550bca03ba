/*
 * key_planes.c
 *		Which planes the engine sorts by; see keys_private.h.
 *
 * The engine gets the planes of all columns in order, up to and including the first prefix plane
 * whose strings go on behind their first word.  What lies behind an undecided prefix must not take
 * part in the sort, and is left to the refinement (key_refine.c).
 *
 * The bytes in the words of string prefixes take few different values, so the engine is told to
 * number them (engine/gs_numbering.c).
 *
 * If all strings of that last column begin alike (with a protocol, a path, a tag), their first
 * words tell nothing.  The prefixes are then made anew, from behind the bytes that all strings have
 * in common.  How many these are was noted when the strings came.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "interrupts.h"
#include "sort/keys_private.h"

/*
 * Prefixes are made anew only if all strings of a column share at least this many leading bytes.
 * That takes a pass over all strings, of 10-20 ns a row; each byte left out halves the number of
 * ties up to 8 times.
 */
#define MIN_COMMON_BYTES 3

bool
gpusort_prefix_is_final(const GpuSortColumn *column)
{
	return column->facts.common_len < MIN_COMMON_BYTES;
}

/*
 * Fills the column's prefix plane with the words that begin at byte `base` of each string.  All
 * strings share the bytes before.
 */
static void
rebase_prefix(GpuSortColumn *column, const GpuSortRows *rows, uint32 base)
{
	uint64	   *prefix = RANGE_U64(column->prefix);
	const uint64 *refs = RANGE_U64(column->refs);

	column->base = base;
	column->facts.long_keys = false;
	for (uint64 id = 0; id < rows->count; id++)
	{
		uint32		len;

		if (id % GPUSORT_INTERRUPT_ROWS == 0)
			CHECK_FOR_INTERRUPTS();
		if (column_is_null(column, (uint32) id))
			continue;
		len = KEY_REF_LENGTH(refs[id]);
		prefix[id] = bytes_word(column->bytes, string_by_ref(rows->places.base, refs[id]), len,
								column->base) ^ column->flip;
		column->facts.long_keys |= bytes_continue(column->bytes, len, column->base);
	}
}

void
gpusort_choose_planes(GpuSortKeys *keys, const GpuSortRows *rows)
{
	gs_plane   *planes = keys->planes;
	unsigned	n = 0;

	keys->refine_column = -1;
	for (int i = 0; i < keys->ncolumns; i++)
	{
		GpuSortColumn *column = &keys->columns[i];
		const uint64 *nulls = column->nulls != NULL ? RANGE_U64(column->nulls) : NULL;
		gs_null_order null_order = column->nulls_first ? GS_NULLS_FIRST : GS_NULLS_LAST;

		if (column->bytes != GPUSORT_BYTES_NONE)
		{
			if (column->facts.long_keys && column->facts.common_len >= MIN_COMMON_BYTES)
				rebase_prefix(column, rows, column->facts.common_len);
			planes[n++] = (gs_plane) {RANGE_U64(column->prefix), nulls, null_order,
			column->numbering};
			null_order = GS_NULLS_NONE;
			if (column->facts.long_keys)
			{
				keys->refine_column = i;
				break;
			}
		}
		for (int w = 0; w < column->nwords; w++)
		{
			planes[n++] = (gs_plane) {RANGE_U64(column->words[w]), nulls, null_order, NULL};
			null_order = GS_NULLS_NONE;
		}
	}
	keys->nplanes = n;
}

void
gpusort_restore_planes(GpuSortKeys *keys, const GpuSortRows *rows)
{
	for (int i = 0; i < keys->ncolumns; i++)
		if (keys->columns[i].base > 0)
			rebase_prefix(&keys->columns[i], rows, 0);
}
