/*
 * join_rows.c
 *		The rows of a join; see join_private.h.
 *
 * Rows are returned as projections of slots that point into the row stores of both sides.  If no
 * column of a side is wanted, its rows are not even looked up.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "executor/instrument.h"
#include "miscadmin.h"

#include "join/join_private.h"
#include "pg_compat/paths.h"
#include "prefetch.h"

#define OUTER GPUSORT_JOIN_OUTER
#define INNER GPUSORT_JOIN_INNER

/*
 * So many rows are prefetched at a time, while as many before them are returned.  All of them at
 * once, since each lies in a page of its own: prefetching a line waits until its address has been
 * translated, and only what is asked for at the same time is translated at the same time.
 */
#define AHEAD_ROWS 16

void
gpusort_begin_join_rows(GpuSortJoinRows *rows, JoinType type, bool inner_unique)
{
	rows->type = type;
	rows->pairs = type != JOIN_ANTI && !gpusort_is_right_anti(type);
	rows->alone[OUTER] = type == JOIN_LEFT || type == JOIN_FULL || type == JOIN_ANTI;
	rows->alone[INNER] = gpusort_returns_inner_rows(type);
	rows->first_only = inner_unique || type == JOIN_SEMI || type == JOIN_ANTI;
	rows->track_inner = rows->alone[INNER] && rows->filter != NULL;
	rows->ranges.unmatched[OUTER] = rows->alone[OUTER];
	rows->ranges.unmatched[INNER] = rows->alone[INNER];
	rows->ranges.whole = rows->track_inner;
}

void
gpusort_restart_join_rows(GpuSortJoinRows *rows)
{
	rows->phase = GPUSORT_JOIN_NEXT_RANGE;
}

/* ---------- current rows ---------- */

/*
 * Prefetches the rows of a view that follow a position.  Those that are about to be returned have
 * been prefetched before, unless the reader has jumped.
 */
static void
prefetch_rows(GpuSortJoinSide *side, uint64 position)
{
	uint64		from = Max(position, side->ahead_to);
	uint64		to = Min(position + 2 * AHEAD_ROWS, side->nrows);

	if (from > position + AHEAD_ROWS)
		from = position;
	for (; from < to; from++)
		prefetch_line(gpusort_join_tuple(side, from));
	side->ahead_to = position + 2 * AHEAD_ROWS;
}

/*
 * Makes a row the current one of its side, if columns of it are wanted, and sees to it that the
 * rows behind it are prefetched.
 */
static inline void
load_row(GpuSortJoinRows *rows, GpuSortJoinEnd end, uint64 position)
{
	GpuSortJoinSide *side = &rows->sides[end];
	ExprContext *econtext = rows->ps->ps_ExprContext;

	if (!side->wanted)
		return;
	/* true also if the position lies behind ahead_to, or far before it */
	if (side->is_view && position + 2 * AHEAD_ROWS - side->ahead_to >= AHEAD_ROWS)
		prefetch_rows(side, position);
	gpusort_join_load(side, position);
	if (end == OUTER)
		econtext->ecxt_outertuple = side->slot;
	else
		econtext->ecxt_innertuple = side->slot;
}

/* Makes the columns of a side null. */
static inline void
load_nulls(GpuSortJoinRows *rows, GpuSortJoinEnd end)
{
	if (end == OUTER)
		rows->ps->ps_ExprContext->ecxt_outertuple = rows->sides[OUTER].null_slot;
	else
		rows->ps->ps_ExprContext->ecxt_innertuple = rows->sides[INNER].null_slot;
}

/* Returns the row made of the current rows of both sides; NULL if the filter removes it. */
static inline TupleTableSlot *
return_row(GpuSortJoinRows *rows)
{
	if (rows->qual != NULL && !ExecQual(rows->qual, rows->ps->ps_ExprContext))
	{
		InstrCountFiltered2(rows->ps, 1);
		return NULL;
	}
	return ExecProject(rows->ps->ps_ProjInfo);
}

/* ---------- inner rows that have had a partner ---------- */

/* Clears the bits of the range's inner rows. */
static void
forget_partners(GpuSortJoinRows *rows)
{
	size_t		words = (rows->range.to[INNER] - rows->range.from[INNER] + 63) / 64;

	if (words > rows->partnered_words)
	{
		if (rows->partnered != NULL)
			pfree(rows->partnered);
		rows->partnered = MemoryContextAllocHuge(rows->context, words * sizeof(uint64));
		rows->partnered_words = words;
	}
	memset(rows->partnered, 0, words * sizeof(uint64));
}

static inline void
note_partner(GpuSortJoinRows *rows, uint64 inner)
{
	uint64		i = inner - rows->range.from[INNER];

	rows->partnered[i / 64] |= UINT64CONST(1) << (i % 64);
}

static inline bool
has_partner(const GpuSortJoinRows *rows, uint64 inner)
{
	uint64		i = inner - rows->range.from[INNER];

	return (rows->partnered[i / 64] >> (i % 64) & 1) != 0;
}

/* ---------- from row to row ---------- */

static inline void
begin_outer_row(GpuSortJoinRows *rows)
{
	load_row(rows, OUTER, rows->at[OUTER]);
	rows->at[INNER] = rows->range.from[INNER];
	rows->outer_has_partner = false;
}

/*
 * Goes on when all pairs of the range have been seen: to its inner rows that had no partner, if
 * these are wanted, or to the next range.
 */
static void
end_pairs(GpuSortJoinRows *rows)
{
	rows->phase = GPUSORT_JOIN_NEXT_RANGE;
	if (!rows->track_inner)
		return;
	load_nulls(rows, OUTER);
	rows->at[INNER] = rows->range.from[INNER];
	rows->phase = GPUSORT_JOIN_UNMATCHED_INNER;
}

static inline void
next_outer_row(GpuSortJoinRows *rows)
{
	rows->phase = GPUSORT_JOIN_PAIRS;
	if (++rows->at[OUTER] == rows->range.to[OUTER])
		end_pairs(rows);
	else
		begin_outer_row(rows);
}

static inline uint64
rows_in_range(const GpuSortJoinRows *rows, GpuSortJoinEnd end)
{
	return rows->range.to[end] - rows->range.from[end];
}

/* Counts a range whose rows match, and its pairs, for EXPLAIN.  Returns how many pairs it has. */
static inline uint64
note_matches(GpuSortJoinRows *rows)
{
	uint64		npairs = rows_in_range(rows, OUTER) * rows_in_range(rows, INNER);

	rows->nranges += rows->range.owns_inner;
	rows->nmatches += npairs;
	return npairs;
}

/*
 * Begins a range whose rows match as far as keys go.  Without further conditions, joins that return
 * no pairs have nothing to do here.
 */
static void
begin_pairs(GpuSortJoinRows *rows)
{
	const GpuSortJoinRange *range = &rows->range;

	(void) note_matches(rows);
	if (rows->filter == NULL && !rows->pairs)
		return;
	if (rows->track_inner)
		forget_partners(rows);
	rows->at[OUTER] = range->from[OUTER];
	rows->phase = GPUSORT_JOIN_PAIRS;
	begin_outer_row(rows);
}

/* Begins a range whose rows do not match, with the rows that are wanted. */
static void
begin_unmatched(GpuSortJoinRows *rows)
{
	const GpuSortJoinRange *range = &rows->range;

	for (int i = 0; i < 2; i++)
		rows->at[i] = range->from[i];
	if (rows->alone[OUTER] && range->from[OUTER] < range->to[OUTER])
	{
		load_nulls(rows, INNER);
		rows->phase = GPUSORT_JOIN_UNMATCHED_OUTER;
	}
	else if (rows->alone[INNER] && range->owns_inner && range->from[INNER] < range->to[INNER])
	{
		load_nulls(rows, OUTER);
		rows->phase = GPUSORT_JOIN_UNMATCHED_INNER;
	}
}

/* Looks at the next pair, and returns its row; NULL if it makes none. */
static inline TupleTableSlot *
next_pair(GpuSortJoinRows *rows)
{
	uint64		inner = rows->at[INNER];

	if (inner == rows->range.to[INNER])
	{
		if (rows->alone[OUTER] && !rows->outer_has_partner)
			rows->phase = GPUSORT_JOIN_OUTER_ALONE;
		else
			next_outer_row(rows);
		return NULL;
	}
	load_row(rows, INNER, inner);
	rows->at[INNER]++;
	if (rows->filter != NULL)
	{
		if (!ExecQual(rows->filter, rows->ps->ps_ExprContext))
		{
			InstrCountFiltered1(rows->ps, 1);
			return NULL;
		}
		if (rows->track_inner)
			note_partner(rows, inner);
	}
	rows->outer_has_partner = true;
	if (rows->first_only)
		rows->at[INNER] = rows->range.to[INNER];
	return rows->pairs ? return_row(rows) : NULL;
}

static inline TupleTableSlot *
next_unmatched_outer(GpuSortJoinRows *rows)
{
	if (rows->at[OUTER] == rows->range.to[OUTER])
	{
		rows->phase = GPUSORT_JOIN_NEXT_RANGE;
		if (rows->range.from[INNER] < rows->range.to[INNER])
		{
			/* the range has inner rows, too: they are equal, but have a null in their key */
			rows->range.from[OUTER] = rows->range.to[OUTER];
			begin_unmatched(rows);
		}
		return NULL;
	}
	load_row(rows, OUTER, rows->at[OUTER]++);
	return return_row(rows);
}

static inline TupleTableSlot *
next_unmatched_inner(GpuSortJoinRows *rows)
{
	uint64		inner = rows->at[INNER];

	if (inner == rows->range.to[INNER])
	{
		rows->phase = GPUSORT_JOIN_NEXT_RANGE;
		return NULL;
	}
	rows->at[INNER]++;
	if (rows->range.matches && has_partner(rows, inner))
		return NULL;
	load_row(rows, INNER, inner);
	return return_row(rows);
}

/* Returns the row of an outer row that had no partner. */
static TupleTableSlot *
outer_alone(GpuSortJoinRows *rows)
{
	load_nulls(rows, INNER);
	rows->phase = GPUSORT_JOIN_NEXT_OUTER;
	return return_row(rows);
}

/* Goes to the next range; returns false if there are no more. */
static bool
next_range(GpuSortJoinRows *rows)
{
	CHECK_FOR_INTERRUPTS();
	if (!gpusort_next_join_range(&rows->ranges, &rows->range))
		return false;
	if (rows->range.matches)
		begin_pairs(rows);
	else
		begin_unmatched(rows);
	return true;
}

TupleTableSlot *
gpusort_next_join_row(GpuSortJoinRows *rows)
{
	TupleTableSlot *slot = NULL;

	for (;;)
	{
		ResetExprContext(rows->ps->ps_ExprContext);
		switch (rows->phase)
		{
			case GPUSORT_JOIN_NEXT_RANGE:
				if (!next_range(rows))
					return NULL;
				continue;
			case GPUSORT_JOIN_PAIRS:
				slot = next_pair(rows);
				break;
			case GPUSORT_JOIN_OUTER_ALONE:
				slot = outer_alone(rows);
				break;
			case GPUSORT_JOIN_NEXT_OUTER:
				next_outer_row(rows);
				continue;
			case GPUSORT_JOIN_UNMATCHED_OUTER:
				slot = next_unmatched_outer(rows);
				break;
			case GPUSORT_JOIN_UNMATCHED_INNER:
				slot = next_unmatched_inner(rows);
				break;
		}
		if (slot != NULL)
			return slot;
		CHECK_FOR_INTERRUPTS();
	}
}

/* ---------- counting rows ---------- */

/* Returns how many rows the join has of the current range.  There are no further conditions. */
static inline uint64
count_range(GpuSortJoinRows *rows)
{
	uint64		count = 0;

	if (rows->range.matches)
	{
		uint64		npairs = note_matches(rows);

		if (rows->pairs)
			count = rows->first_only ? rows_in_range(rows, OUTER) : npairs;
		return count;
	}
	if (rows->alone[OUTER])
		count += rows_in_range(rows, OUTER);
	if (rows->alone[INNER] && rows->range.owns_inner)
		count += rows_in_range(rows, INNER);
	return count;
}

uint64
gpusort_count_join_rows(GpuSortJoinRows *rows)
{
	uint64		count = 0;

	Assert(rows->filter == NULL && rows->qual == NULL);
	while (gpusort_next_join_range(&rows->ranges, &rows->range))
	{
		CHECK_FOR_INTERRUPTS();
		count += count_range(rows);
	}
	return count;
}
