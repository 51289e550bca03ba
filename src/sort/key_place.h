/*
 * key_place.h
 *		Places in the sort key, which the refinement goes through (key_refine.c).
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_KEY_PLACE_H
#define GPUSORT_KEY_PLACE_H

#include "sort/sort_state.h"

/* Where words of strings are from. */
typedef enum KeySource
{
	KEY_KEPT,					/* the strings of a column that have keys, or are their keys */
	KEY_KNOWN,					/* what is known of strings without a key */
	KEY_MADE					/* keys that are made for one word, where that says nothing */
} KeySource;

/*
 * A place in the sort key: in a column, either at a byte of its string
 * (word < 0) or at one of its words, or behind the last column.
 */
typedef struct KeyPlace
{
	int			column;
	int			word;
	uint32		byte;
	KeySource	source;			/* of words behind the first */
	uint32		rest;			/* unless KEY_KEPT: words are of strings without so many bytes */
	uint32		passes;			/* how often keys have been made of these */
} KeyPlace;

static inline bool
place_is_end(const GpuSort *sort, const KeyPlace *place)
{
	return place->column == sort->keys.ncolumns;
}

static inline bool
place_is_string(const KeyPlace *place)
{
	return place->word < 0;
}

/* Are the words there made of strings that have no keys (key_made.h)? */
static inline bool
place_is_made(const KeyPlace *place)
{
	return place->source != KEY_KEPT && place->byte > 0;
}

/* Where the key goes on behind what the engine has sorted by. */
extern KeyPlace gpusort_first_place(const GpuSort *sort);

/* At the beginning of a column nulls are told from values. */
extern bool gpusort_place_begins_column(const GpuSort *sort, const KeyPlace *place);

/*
 * Move to the next part of the key, or behind the column, the rest of which does not matter
 * (all values are null).  False if there is nothing to be done for runs that get there.
 */
extern bool gpusort_next_part(const GpuSort *sort, KeyPlace *place);
extern bool gpusort_next_column(const GpuSort *sort, KeyPlace *place);

/* Move to where the key goes on for rows that agree in their words here; false as above. */
extern bool gpusort_next_place(const GpuSort *sort, KeyPlace *place);

#endif							/* GPUSORT_KEY_PLACE_H */
