/*
 * refine_private.h
 *		Refining ties: places in the sort key, keys of strings, and runs of rows.
 */
#ifndef GPUSORT_REFINE_PRIVATE_H
#define GPUSORT_REFINE_PRIVATE_H

#include "sort/keys_private.h"
#include "sort/state_private.h"

/* ---------- places in the sort key ---------- */

/*
 * The refinement (key_refine.c) goes through the key from place to place, and sorts the rows that
 * still tie by the word that they have there.
 */

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

/* Returns whether the words at this place are made of strings that have no keys (key_made.c). */
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

/* ---------- keys of strings of lazy encoders, made while ties are refined ---------- */

/*
 * A lazy encoder leaves strings without keys until some of them tie (keys/key_codec.h).  When the
 * refinement needs the keys of a run, and there is room behind the rows, it keeps them there until
 * the run is in order, so that each key is made once.  A run whose keys find no room has each key
 * made for one word only, by which the run falls into smaller ones.  So the refinement needs no
 * more memory than there is, however many rows there are.
 */

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
extern uint32 gpusort_key_shared_bytes(GpuSort *sort, const GpuSortColumn *column,
									   const uint32 *ids,
									   uint32 n, uint32 from, bool *same);

/*
 * Moves a place for which place_is_made() is true behind the `shared` bytes from there on that the
 * strings of all rows of a run share, as far as the rest can be sorted by itself.  `id` is one of
 * the rows.
 */
extern void gpusort_skip_shared(GpuSort *sort, KeyPlace *place, uint32 id, uint32 shared);

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

/* ---------- ordering a run of rows by one word of their keys ---------- */

/*
 * A run is a stretch of the sorted order whose rows agree in everything before some place in the
 * key.  Ordering it by the word at this place is the step that the refinement (key_refine.c) is
 * made of.
 */

/* Runs of up to this many rows are sorted on the stack, longer ones by the engine. */
#define SMALL_RUN		256

/*
 * Moves *place behind everything that the rows of a run have in common, after the words there were
 * found to be all the same.  Returns false if there is nothing to be done for the run behind it.
 */
extern bool gpusort_skip_same(GpuSort *sort, const RunWords *found, const uint32 *ids,
							  uint32 n, KeyPlace *place);

/*
 * Orders a run by the words at `place`, and sets bit i of `equal` where the word at position i of
 * the run is the same as that at position i - 1.  `equal` must have room for n bits, and for
 * SMALL_RUN at least; for runs longer than that it may be NULL.  If all words are the same, or some
 * word can't be had, nothing is done, and the result says so.
 */
extern RunWords gpusort_sort_run(GpuSort *sort, const KeyPlace *place, uint32 *ids,
								 uint32 n, uint64 *equal);

/*
 * Returns how many bytes the strings of a run share from the place on, for which place_is_made() is
 * true.  Sets *same to whether all of them are equal.
 */
extern uint32 gpusort_key_run_shared_bytes(GpuSort *sort, const KeyPlace *place,
										   const uint32 *ids, uint32 n, bool *same);

/*
 * Returns whether a run has so many rows that its words are fetched by the team.  Then keys of its
 * rows are not worth keeping, since other processes could not see them.
 */
extern bool gpusort_key_run_is_shared(GpuSort *sort, uint32 n);

/*
 * Moves the nulls of the column to the side of the run where they belong, keeping the order of
 * nulls and of values.  Returns how many nulls there are.
 */
extern uint32 gpusort_split_nulls(const GpuSort *sort, const GpuSortColumn *column, uint32 *ids,
								  uint32 n);

/* ---------- refining runs, step by step, to the end of the key ---------- */

/* A run: rows of the order that agree in everything before a place in the key. */
typedef struct TiedRun
{
	uint32	   *ids;
	uint32		n;
	KeyPlace	place;
} TiedRun;

/* Puts a run in order, whatever the bitmap tells of it. */
extern void gpusort_refine_run(GpuSort *sort, TiedRun run);

/* Returns the end of the run that begins at a position, as the equal bitmap tells it. */
extern uint64 gpusort_end_of_run(const GpuSort *sort, uint64 start);

/*
 * Puts the runs between two positions in order.  No run crosses these, and the bitmap tells which
 * rows tie on everything before `place`.
 */
extern void gpusort_refine_stretch(GpuSort *sort, uint64 from, uint64 to, KeyPlace place);

/*
 * Breaks up a run that is too long for the memory of one process: sorts it by words until it falls
 * into smaller ones.  The bitmap tells these then, and *run is the rows and the place where they go
 * on.  Returns false if the run can't be broken up, and is in order instead.
 */
extern bool gpusort_break_run(GpuSort *sort, TiedRun *run);

#endif							/* GPUSORT_REFINE_PRIVATE_H */
