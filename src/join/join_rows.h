/*
 * join_rows.h
 *		The rows of a join: what its type makes of ranges of rows with the same key.
 */
#ifndef GPUSORT_JOIN_ROWS_H
#define GPUSORT_JOIN_ROWS_H

#include "nodes/execnodes.h"

#include "join/join_ranges.h"

/* Where in a range the next row comes from. */
typedef enum GpuSortJoinPhase
{
	GPUSORT_JOIN_NEXT_RANGE,	/* from the next range */
	GPUSORT_JOIN_PAIRS,			/* an outer row and an inner row */
	GPUSORT_JOIN_OUTER_ALONE,	/* the outer row, which has turned out to have no partner */
	GPUSORT_JOIN_NEXT_OUTER,	/* from the next outer row */
	GPUSORT_JOIN_UNMATCHED_OUTER,	/* the outer rows of a range that does not match */
	GPUSORT_JOIN_UNMATCHED_INNER	/* the inner rows that have no partner */
} GpuSortJoinPhase;

typedef struct GpuSortJoinRows
{
	/* how rows are made; set once */
	JoinType	type;
	bool		pairs;			/* are pairs returned? */
	bool		alone[2];		/* are rows without a partner returned? by side */
	bool		first_only;		/* an outer row has at most one partner, or one is enough */
	ExprState  *filter;			/* further conditions of the join, on pairs; NULL: none */
	ExprState  *qual;			/* conditions on the rows of the result; NULL: none */
	PlanState  *ps;				/* the node, with expression context and projection */
	GpuSortJoinSide *sides;		/* two */
	GpuSortJoinRanges ranges;

	/* where the next row comes from */
	GpuSortJoinPhase phase;
	GpuSortJoinRange range;
	uint64		at[2];			/* positions in the range, by side */
	bool		outer_has_partner;	/* has the outer row had a partner? */

	/* which inner rows of the range have had a partner, if that must be known (track_inner) */
	bool		track_inner;
	uint64	   *partnered;		/* a bit for each inner row */
	size_t		partnered_words;	/* allocated words of partnered */
	MemoryContext context;

	/* for EXPLAIN */
	uint64		nranges;		/* ranges that have rows of both sides */
	uint64		nmatches;		/* pairs in these ranges */
} GpuSortJoinRows;

/*
 * Sets how the rows of a join of this type are made, and the fields of rows->ranges that depend on
 * it.  inner_unique: an outer row has at most one partner.
 */
extern void gpusort_begin_join_rows(GpuSortJoinRows *rows, JoinType type, bool inner_unique);

/* Starts again from rows->ranges, which have begun. */
extern void gpusort_restart_join_rows(GpuSortJoinRows *rows);

/* Returns the next row; NULL if there are no more. */
extern TupleTableSlot *gpusort_next_join_row(GpuSortJoinRows *rows);

#endif							/* GPUSORT_JOIN_ROWS_H */
