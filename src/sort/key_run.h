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

#include "sort/key_made.h"

/* Runs up to this length are sorted on the stack, longer ones by the engine. */
#define SMALL_RUN		256

/*
 * Move to where the key goes on for a run that was found to agree: behind all that its rows have in
 * common.  False if there is nothing to be done there.
 */
extern bool gpusort_skip_same(GpuSort *sort, const RunWords *found, const uint32 *ids,
							  uint32 n, KeyPlace *place);

/*
 * Order a run by the words at `place`, and set bit i of equal, which has room for n bits
 * and SMALL_RUN at least, where the word at position i is that of position i - 1.  Not if
 * all words are the same, or one can't be had: then nothing is done.  equal may be NULL for long
 * runs.
 */
extern RunWords gpusort_sort_run(GpuSort *sort, const KeyPlace *place, uint32 *ids,
								 uint32 n, uint64 *equal);

/*
 * Move the nulls of the column to the side where they belong, keeping the order
 * within both groups.  Returns how many there are.
 */
extern uint32 gpusort_split_nulls(const GpuSort *sort, const GpuSortColumn *column, uint32 *ids,
								  uint32 n);

#endif							/* GPUSORT_KEY_RUN_H */
