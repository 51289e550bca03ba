/*
 * key_run.h
 *		Ordering a run of rows by one word of their keys.
 *
 * A run is a stretch of the sorted order whose rows agree in everything before some place in the
 * key.  Ordering it by the word at this place is the step that the refinement (key_refine.c) is
 * made of.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_KEY_RUN_H
#define GPUSORT_KEY_RUN_H

#include "sort/key_made.h"

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
 * Moves the nulls of the column to the side of the run where they belong, keeping the order of
 * nulls and of values.  Returns how many nulls there are.
 */
extern uint32 gpusort_split_nulls(const GpuSort *sort, const GpuSortColumn *column, uint32 *ids,
								  uint32 n);

#endif							/* GPUSORT_KEY_RUN_H */
