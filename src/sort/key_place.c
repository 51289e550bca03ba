/*
 * key_place.c
 *		Places in the sort key; see refine_private.h.
 */
#include "postgres.h"

#include "sort/keys_private.h"
#include "sort/refine_private.h"

/* Returns the place behind the prefix words of this column, by which the engine has sorted. */
static KeyPlace
place_behind_prefix(const GpuSort *sort, int column)
{
	const GpuSortColumn *c = &sort->keys.columns[column];
	KeyPlace	place = {column, -1, c->base + bytes_per_word(c->bytes),
	c->lazy ? KEY_KNOWN : KEY_KEPT, 0, 0};

	return place;
}

/* Returns whether there is anything left to be done for runs that get to this place. */
static bool
place_matters(const GpuSort *sort, const KeyPlace *place)
{
	return !place_is_end(sort, place) || sort->tells_equal;
}

bool
gpusort_place_begins_column(const GpuSort *sort, const KeyPlace *place)
{
	if (place_is_string(place))
		return place->byte == 0;
	return place->word == 0 && sort->keys.columns[place->column].bytes == GPUSORT_BYTES_NONE;
}

/* Moves to the beginning of a column, which may be the end of the key. */
static void
begin_column_place(const GpuSort *sort, KeyPlace *place, int column)
{
	place->column = column;
	place->byte = 0;
	place->word = column < sort->keys.ncolumns &&
		sort->keys.columns[column].bytes == GPUSORT_BYTES_NONE ? 0 : -1;
	place->source = column < sort->keys.ncolumns && sort->keys.columns[column].lazy ? KEY_KNOWN
		: KEY_KEPT;
	place->rest = 0;
	place->passes = 0;
}

bool
gpusort_next_part(const GpuSort *sort, KeyPlace *place)
{
	const GpuSortColumn *column = &sort->keys.columns[place->column];

	place->word++;
	if (place->word >= column->nwords)
		begin_column_place(sort, place, place->column + 1);
	return place_matters(sort, place);
}

bool
gpusort_next_column(const GpuSort *sort, KeyPlace *place)
{
	begin_column_place(sort, place, place->column + 1);
	return place_matters(sort, place);
}

KeyPlace
gpusort_first_place(const GpuSort *sort)
{
	KeyPlace	place;

	if (sort->keys.refine_column >= 0)
		return place_behind_prefix(sort, sort->keys.refine_column);
	begin_column_place(sort, &place, sort->keys.ncolumns);
	return place;
}

bool
gpusort_next_place(const GpuSort *sort, KeyPlace *place)
{
	if (!place_is_string(place))
		return gpusort_next_part(sort, place);
	place->byte += bytes_per_word(sort->keys.columns[place->column].bytes);
	return true;
}
