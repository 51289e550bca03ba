/*
 * key_made.h
 *		Keys of the strings of lazy encoders, which are made while ties are refined.
 *
 * Where there is room, the keys of a run are kept behind the rows until it is in order, which takes
 * the time of making each once.  A run whose keys find none has each key made for one word of it,
 * by which it falls into smaller runs.  So no number of rows takes more memory than there is.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_KEY_MADE_H
#define GPUSORT_KEY_MADE_H

#include "sort/key_place.h"
#include "sort/key_strings.h"

/* What fetching the words of a run found. */
typedef struct RunWords
{
	uint64		first;			/* word of the first row */
	bool		same;			/* all rows have that word */
	bool		longer;			/* some string has bytes at or after the place */
	uint32		common;			/* bytes from the place on that all keys share, if they were made */
	bool		refused;		/* some word can't be had; nothing else is known */
} RunWords;

/* Where keys that are kept end, in the row store. */
typedef size_t GpuSortKeptKeys;

/* Before and after the refinement: see what memory there is for keys; forget all of them. */
extern void gpusort_begin_made_keys(GpuSort *sort);
extern void gpusort_end_made_keys(GpuSort *sort);

static inline GpuSortKeptKeys
gpusort_kept_keys(const GpuSort *sort)
{
	return sort->rows.used;
}

/* Forget the keys that have been kept since. */
static inline void
gpusort_forget_kept_keys(GpuSort *sort, GpuSortKeptKeys kept)
{
	sort->rows.used = kept;
}

/*
 * Bytes that the strings of all rows of a run share from `from` on, or their keys where these are
 * kept; before that they do.  *same: they share all of them.
 */
extern uint32 gpusort_shared_bytes(GpuSort *sort, const GpuSortColumn *column, const uint32 *ids,
								   uint32 n, uint32 from, bool *same);

/*
 * At a place that place_is_made() is true of: go to the rest of the strings behind what they share.
 * False if all are the same.
 */
extern bool gpusort_skip_shared(GpuSort *sort, KeyPlace *place, const uint32 *ids, uint32 n);

/* Go from what is known of the strings, as that does not decide, to their keys. */
static inline void
gpusort_go_on_with_keys(KeyPlace *place)
{
	place->source = KEY_MADE;
	place->byte = PADDED_WORD_BYTES;
}

/*
 * Keep the keys of a run, from a place in keys that are made on, if all can be and there is room;
 * *place is then one in what is kept.
 */
extern void gpusort_keep_keys(GpuSort *sort, KeyPlace *place, const uint32 *ids, uint32 n);

/*
 * Fetch the words at such a place of the rows ids[0 .. n-1] into words[], which are `stride` bytes
 * apart.
 */
extern RunWords gpusort_fetch_made_words(GpuSort *sort, const KeyPlace *place, const uint32 *ids,
										 uint32 n, uint64 *words, size_t stride);

#endif							/* GPUSORT_KEY_MADE_H */
