/*
 * key_place.h
 *		Places in the sort key.
 *
 * The refinement (key_refine.c) goes through the key from place to place, and sorts the rows that
 * still tie by the word that they have there.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_KEY_PLACE_H
#define GPUSORT_KEY_PLACE_H

#include "sort/sort_state.h"

/* What the words of a string behind its first one are made of. */
typedef enum KeySource
{
	/* bytes in the row store: the strings are their own keys, or their keys are kept there */
	KEY_KEPT,
	/* the encoder's known_word() of the rest of a string that has no key */
	KEY_KNOWN,
	/* keys of rests that are made anew for each word, where known words don't decide */
	KEY_MADE
} KeySource;

/*
 * A place in the sort key.  It is either in a column, at a byte of its string (word < 0) or at one
 * of its words (word >= 0), or behind the last column.
 */
typedef struct KeyPlace
{
	int			column;
	int			word;			/* of the column; -1: the place is in its string */
	uint32		byte;			/* of its string; of a made key, PADDED_WORD_BYTES more */
	KeySource	source;			/* of the words behind the first one */
	/* unless KEY_KEPT: words are made of strings without their first bytes, this many */
	uint32		rest;
	uint32		passes;			/* how often keys were made for one word, without being kept */
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

/* Returns whether the words at this place are made of strings that have no keys (key_made.h). */
static inline bool
place_is_made(const KeyPlace *place)
{
	return place->source != KEY_KEPT && place->byte > 0;
}

/* Returns the place where the key goes on behind what the engine has sorted by. */
extern KeyPlace gpusort_first_place(const GpuSort *sort);

/*
 * Returns whether the place is the beginning of a column, where nulls have to be told from values.
 */
extern bool gpusort_place_begins_column(const GpuSort *sort, const KeyPlace *place);

/*
 * Move to the next part of the key, or to the next column if the rest of this one does not matter,
 * as for nulls.  Return false if there is nothing to be done for runs that get to the new place.
 */
extern bool gpusort_next_part(const GpuSort *sort, KeyPlace *place);
extern bool gpusort_next_column(const GpuSort *sort, KeyPlace *place);

/*
 * Moves to where the key goes on for rows that agree in their words at this place.  Returns false
 * if there is nothing to be done for them there.
 */
extern bool gpusort_next_place(const GpuSort *sort, KeyPlace *place);

#endif							/* GPUSORT_KEY_PLACE_H */
