/*
 * join_keys.h
 *		Comparing the rows of two sides by the columns that both are sorted by.
 *
 * Rows that are given by position are compared by the first words of their keys (sort/sort.h)
 * where these decide, and otherwise by the operator family's comparisons, across types if need be.
 * Nulls are equal to each other here, as they are in sorts.
 */
#ifndef GPUSORT_JOIN_KEYS_H
#define GPUSORT_JOIN_KEYS_H

#include "utils/sortsupport.h"

#include "join/join_cuts.h"
#include "join/join_side.h"

typedef struct GpuSortJoinKeys
{
	GpuSortJoinSide *sides;		/* two */
	int			nkeys;
	SortSupport compare[2][2];	/* comparisons of the columns, for rows of two given sides,
								 * which may be the same */
	bool		use_words;		/* are first words of both sides comparable? */
	bool		words_suffice;	/* do equal first words mean equal keys? */
	bool		doubtful;		/* the sides have different types, and words do not decide: the
								 * comparison across types may disagree with a side's order */
	TupleTableSlot *slots[2];	/* for a row being compared, by side */
	TupleTableSlot *other_slots[2]; /* for the second of two rows of the same side */
	MemoryContext scratch;		/* for what comparisons allocate */
} GpuSortJoinKeys;

/* Prepares *keys for comparing rows of two sides, in the current context. */
extern void gpusort_begin_join_keys(GpuSortJoinKeys *keys, GpuSortJoinSide *sides, EState *estate);

/* Clears all slots, so that they refer to no row any more. */
extern void gpusort_clear_join_keys(GpuSortJoinKeys *keys);

/*
 * Compares row i of side a with row j of side b, both of views, first by their words.  This is a
 * GpuSortJoinOrder's compare(); arg is a GpuSortJoinKeys.
 */
extern int	gpusort_compare_join_positions(void *arg, GpuSortJoinEnd a, uint64_t i,
										   GpuSortJoinEnd b, uint64_t j);

/* Compares two rows of views whose first words are the same, or are not used. */
extern int	gpusort_compare_join_ties(GpuSortJoinKeys *keys, GpuSortJoinEnd a, uint64 i,
									  GpuSortJoinEnd b, uint64 j);

/*
 * Raises the error that PostgreSQL's merge joins raise if the comparison across two types disagrees
 * with the comparisons of either type, by which the sides were sorted.
 */
extern void gpusort_join_is_out_of_order(void);

/* Compares the rows that are in sides[].slot. */
extern int	gpusort_compare_join_rows(GpuSortJoinKeys *keys);

/* Returns whether the row in side->slot has a null in a column that the side is sorted by. */
extern bool gpusort_join_row_has_null(const GpuSortJoinSide *side);

#endif							/* GPUSORT_JOIN_KEYS_H */
