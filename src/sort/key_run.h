/*
 * key_run.h
 *		Ordering a run of rows by one word of their keys, the step that the refinement
 *		is made of (key_refine.c).
 *
 * A run is a stretch of the sorted order whose rows agree in everything before some
 * place in the key.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_KEY_RUN_H
#define GPUSORT_KEY_RUN_H

#include "sort/sort_state.h"

/* Runs up to this length are sorted on the stack, longer ones by the engine. */
#define SMALL_RUN		256

/*
 * A place in the sort key: in a column, either at a byte of its string
 * (word < 0) or at one of its words, or behind the last column.
 */
typedef struct KeyPlace
{
	int			column;
	int			word;
	uint32		byte;
	bool		lazy;			/* the column's strings have no keys yet */
} KeyPlace;

/* What fetching the words of a run found. */
typedef struct RunWords
{
	uint64		first;			/* word of the first row */
	bool		same;			/* all rows have that word */
	bool		longer;			/* some string has bytes at or after the place */
} RunWords;

static inline bool
place_is_end(const GpuSort *sort, const KeyPlace *place)
{
	return place->column == sort->keys.ncolumns;
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

/* The same for a run that was found to agree: behind all that its rows have in common. */
extern bool gpusort_skip_same(const GpuSort *sort, const RunWords *found, const uint32 *ids,
							  uint32 n, KeyPlace *place);

/* Do all rows of the run have the same string? */
extern bool gpusort_same_strings(const GpuSort *sort, const GpuSortColumn *column,
								 const uint32 *ids, uint32 n);

/*
 * Order a run by the words at `place`, and set bit i of equal, which has room for n bits
 * and SMALL_RUN at least, where the word at position i is that of position i - 1.  Not if
 * all words are the same: then nothing is done.  equal may be NULL for long runs.
 */
extern RunWords gpusort_sort_run(const GpuSort *sort, const KeyPlace *place, uint32 *ids,
								 uint32 n, uint64 *equal);

/*
 * Move the nulls of the column to the side where they belong, keeping the order
 * within both groups.  Returns how many there are.
 */
extern uint32 gpusort_split_nulls(const GpuSort *sort, const GpuSortColumn *column, uint32 *ids,
								  uint32 n);

#endif							/* GPUSORT_KEY_RUN_H */
