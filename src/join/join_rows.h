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
	GPUSORT_JOIN_NEXT_RANGE,
	GPUSORT_JOIN_PAIRS,			/* an outer row with an inner one */
	GPUSORT_JOIN_OUTER_ALONE,	/* the outer row, which had no partner */
	GPUSORT_JOIN_NEXT_OUTER,	/* nowhere: the next outer row is to be looked at */
	GPUSORT_JOIN_UNMATCHED_OUTER,	/* outer rows without partners */
	GPUSORT_JOIN_UNMATCHED_INNER	/* inner rows that had none */
} GpuSortJoinPhase;

typedef struct GpuSortJoinRows
{
	/* what is joined how: from the beginning on */
	JoinType	type;
	bool		pairs;			/* pairs are returned */
	bool		alone[2];		/* rows without a partner are, by side */
	bool		first_only;		/* an outer row has one partner at most, or one is enough */
	ExprState  *filter;			/* of pairs, beside the keys; NULL: none */
	ExprState  *qual;			/* of what is returned; NULL: none */
	PlanState  *ps;				/* with expression context and projection */
	GpuSortJoinSide *sides;		/* two */
	GpuSortJoinRanges ranges;

	/* where it is */
	GpuSortJoinPhase phase;
	GpuSortJoinRange range;
	uint64		at[2];
	bool		outer_has_partner;

	/* which inner rows of the range have had a partner; if that is of interest */
	bool		track_inner;
	uint64	   *partnered;
	size_t		partnered_words;
	MemoryContext context;

	/* for EXPLAIN */
	uint64		nranges;		/* with matches */
	uint64		nmatches;		/* pairs in them */
} GpuSortJoinRows;

/* How rows of such a join are made; the ranges' fields that depend on it are set. */
extern void gpusort_begin_join_rows(GpuSortJoinRows *rows, JoinType type, bool inner_unique);

/* Begin with the ranges, which have begun. */
extern void gpusort_restart_join_rows(GpuSortJoinRows *rows);

/* The next row; NULL if there are no more. */
extern TupleTableSlot *gpusort_next_join_row(GpuSortJoinRows *rows);

#endif							/* GPUSORT_JOIN_ROWS_H */
