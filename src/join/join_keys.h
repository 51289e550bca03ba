/*
 * join_keys.h
 *		Comparing the rows of two sides by the columns that both are sorted by.
 *
 * Rows at positions are compared by the first words of their keys (sort/first_word.h) where that
 * tells, and by the operator family's comparisons otherwise, across types if need be.  Nulls are
 * equal to each other here, as they are to sorts.
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
	SortSupport compare[2][2];	/* of the columns; by sides, which may be the same */
	bool		use_words;		/* both sides have comparable first words */
	bool		words_suffice;	/* ... and equal ones are those of equal keys */
	bool		doubtful;		/* the sides' types differ, and no words say that their comparison is an order */
	TupleTableSlot *slots[2];	/* rows being compared, of either side's descriptor: [side] */
	TupleTableSlot *other_slots[2];	/* ... of another row of the same side */
	MemoryContext scratch;		/* what comparisons allocate */
} GpuSortJoinKeys;

/* In the current context. */
extern void gpusort_begin_join_keys(GpuSortJoinKeys *keys, GpuSortJoinSide *sides, EState *estate);

/* Don't refer to any row. */
extern void gpusort_clear_join_keys(GpuSortJoinKeys *keys);

/* Compare rows at positions of views, by all that is known: a callback of GpuSortJoinOrder. */
extern int	gpusort_compare_join_positions(void *arg, GpuSortJoinEnd a, uint64_t i,
										   GpuSortJoinEnd b, uint64_t j);

/* ... whose first words are the same. */
extern int	gpusort_compare_join_ties(GpuSortJoinKeys *keys, GpuSortJoinEnd a, uint64 i,
									  GpuSortJoinEnd b, uint64 j);

/*
 * Sides that were sorted by comparisons of their own types have been found in another order by the one across them:
 * PostgreSQL's error of merge joins.
 */
extern void gpusort_join_is_out_of_order(void);

/* Compare the rows that are at hand on both sides. */
extern int	gpusort_compare_join_rows(GpuSortJoinKeys *keys);

/* Is a column that the row at hand is sorted by null? */
extern bool gpusort_join_row_has_null(const GpuSortJoinSide *side);

#endif							/* GPUSORT_JOIN_KEYS_H */
