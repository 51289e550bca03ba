/*
 * key_made.h
 *		Keys of the strings of lazy encoders, which are made while ties are refined.
 *
 * A lazy encoder leaves strings without keys until some of them tie (keys/key_codec.h).  When the
 * refinement needs the keys of a run, and there is room behind the rows, it keeps them there until
 * the run is in order, so that each key is made once.  A run whose keys find no room has each key
 * made for one word only, by which the run falls into smaller ones.  So the refinement needs no
 * more memory than there is, however many rows there are.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_KEY_MADE_H
#define GPUSORT_KEY_MADE_H

#include "sort/key_place.h"
#include "sort/key_strings.h"

/* What was found when the words of a run were fetched. */
typedef struct RunWords
{
	uint64		first;			/* the word of the first row */
	bool		same;			/* all rows have that word */
	bool		longer;			/* some string has bytes at or after the place */
	/* if keys were made: number of bytes, from the place on, that all keys share */
	uint32		common;
	bool		refused;		/* some word could not be had; the other fields are not valid */
} RunWords;

/* The end of the keys that are kept, as an offset in the row store. */
typedef size_t GpuSortKeptKeys;

/*
 * gpusort_begin_made_keys() is called before the refinement, and finds out how much memory there is
 * for keys.  gpusort_end_made_keys() is called after it, when no key is kept any more, and accounts
 * for the memory that keys have taken.
 */
extern void gpusort_begin_made_keys(GpuSort *sort);
extern void gpusort_end_made_keys(GpuSort *sort);

/* Returns the end of the keys that are kept now. */
static inline GpuSortKeptKeys
gpusort_kept_keys(const GpuSort *sort)
{
	return sort->rows.used;
}

/* Forgets the keys that have been kept since gpusort_kept_keys() returned `kept`. */
static inline void
gpusort_forget_kept_keys(GpuSort *sort, GpuSortKeptKeys kept)
{
	sort->rows.used = kept;
}

/*
 * Returns how many bytes, from byte `from` on, are shared by the strings of the rows ids[0..n-1],
 * or by their keys where these are kept.  The caller knows that they share the bytes before.
 * *same, unless NULL, tells whether all strings are equal.
 */
extern uint32 gpusort_shared_bytes(GpuSort *sort, const GpuSortColumn *column, const uint32 *ids,
								   uint32 n, uint32 from, bool *same);

/*
 * Moves a place for which place_is_made() is true behind the bytes that the strings of all rows of
 * a run share, as far as the rest can be sorted by itself.  Returns false if all strings are equal.
 */
extern bool gpusort_skip_shared(GpuSort *sort, KeyPlace *place, const uint32 *ids, uint32 n);

/* Moves from known words, which did not decide, to the keys of the same rests of the strings. */
static inline void
gpusort_go_on_with_keys(KeyPlace *place)
{
	place->source = KEY_MADE;
	place->byte = PADDED_WORD_BYTES;
}

/*
 * Keeps the keys of a run, from this place on, if there is room for all of them and all can be
 * made.  *place is then moved into the kept keys; else it stays.
 */
extern void gpusort_keep_keys(GpuSort *sort, KeyPlace *place, const uint32 *ids, uint32 n);

/*
 * Fetches the words of the rows ids[0..n-1] at a place for which place_is_made() is true.  They go
 * to words[], `stride` bytes apart.
 */
extern RunWords gpusort_fetch_made_words(GpuSort *sort, const KeyPlace *place, const uint32 *ids,
										 uint32 n, uint64 *words, size_t stride);

#endif							/* GPUSORT_KEY_MADE_H */
