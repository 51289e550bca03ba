/*
 * join_ranges.c
 *		Ranges of rows of two sorted sides that have the same key; see join_private.h.
 *
 * The first words of a piece's keys are loaded into arrays.  This is when the piece's rows are
 * touched, with the following ones prefetched.  To find ranges then takes the arrays only, which
 * are in the cache.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "join/join_private.h"
#include "settings.h"

#define OUTER GPUSORT_JOIN_OUTER
#define INNER GPUSORT_JOIN_INNER

/* ---------- sides that are read through their children ---------- */

/*
 * A range says how many rows it has on both sides, so its rows are read to its end before it is
 * returned, and once more to be joined.  That is slow, but this way of joining is never chosen for
 * its speed.
 */

/* Begins with two sides that have been opened; each may still be a view. */
static void
gpusort_begin_join_stream(GpuSortJoinStream *stream, GpuSortJoinSide *sides, GpuSortJoinKeys *keys)
{
	stream->sides = sides;
	stream->keys = keys;
	stream->at[OUTER] = stream->at[INNER] = 0;
}

/*
 * Moves both sides to the rows to be looked at next, and sets marks there.  found[] tells which
 * sides have such a row.
 */
static void
go_to_beginning(GpuSortJoinStream *stream, bool found[2])
{
	for (int i = 0; i < 2; i++)
	{
		GpuSortJoinSide *side = &stream->sides[i];

		if (side->is_view)
		{
			found[i] = stream->at[i] < side->nrows;
			if (found[i])
				gpusort_join_load(side, stream->at[i]);
		}
		else
			found[i] = gpusort_join_seek_and_mark(side, stream->at[i]);
	}
}

/* Makes the row at a position the current row of its side; returns false if there is none. */
static bool
load_row(GpuSortJoinSide *side, uint64 position)
{
	if (!side->is_view)
		return gpusort_join_seek(side, position);
	if (position >= side->nrows)
		return false;
	gpusort_join_load(side, position);
	return true;
}

/*
 * Returns the end of the rows of a side that are equal to the current row of the other side.  The
 * row behind them must be greater, if the comparison across the sides agrees with their orders.
 */
static uint64
end_of_streamed_equals(GpuSortJoinStream *stream, GpuSortJoinEnd side)
{
	uint64		end = stream->at[side];
	int			cmp = 0;

	do
	{
		CHECK_FOR_INTERRUPTS();
		end++;
		if (!load_row(&stream->sides[side], end))
			return end;
		cmp = gpusort_compare_join_rows(stream->keys);
	} while (cmp == 0);
	if ((cmp < 0) == (side == OUTER))
		gpusort_join_is_out_of_order();
	return end;
}

/* Returns a range of the next row of a side, which has no match. */
static bool
return_streamed_unmatched(GpuSortJoinStream *stream, GpuSortJoinEnd side, GpuSortJoinRange *range)
{
	range->from[side] = stream->at[side]++;
	range->to[side] = stream->at[side];
	range->from[!side] = range->to[!side] = stream->at[!side];
	range->matches = false;
	return true;
}

/* Returns the next range in order, whether it is wanted or not; false if there are no more. */
static bool
gpusort_next_join_stream_range(GpuSortJoinStream *stream, GpuSortJoinRange *range)
{
	GpuSortJoinSide *outer = &stream->sides[OUTER];
	bool		found[2];
	int			cmp;

	go_to_beginning(stream, found);
	range->owns_inner = true;
	if (!found[OUTER] && !found[INNER])
		return false;
	if (!found[OUTER] || !found[INNER])
		return return_streamed_unmatched(stream, found[OUTER] ? OUTER : INNER, range);
	cmp = gpusort_compare_join_rows(stream->keys);
	if (cmp != 0 || gpusort_join_row_has_null(outer))
		return return_streamed_unmatched(stream, cmp > 0 ? INNER : OUTER, range);

	range->matches = true;
	for (int i = 0; i < 2; i++)
	{
		range->from[i] = stream->at[i];
		range->to[i] = end_of_streamed_equals(stream, i);
		(void) load_row(&stream->sides[i], range->from[i]);
	}
	for (int i = 0; i < 2; i++)
		stream->at[i] = range->to[i];
	return true;
}

/* ---------- sides that are read by position, and pieces ---------- */

/*
 * How many rows a piece has, of both sides together.  With at most MAX_PIECE_ROWS, they stay in a
 * core's second cache while the piece is joined.  With at least MIN_PIECE_ROWS, finding the piece's
 * ends, which touches some 50 rows that are not in a cache, costs little beside joining it.  In
 * between, there are PIECES_EACH pieces for each participant.
 */
#define MAX_PIECE_ROWS	8192
#define MIN_PIECE_ROWS	512
#define PIECES_EACH		16

/* The rows of a piece where sorts are forced, as in tests, which have few rows. */
#define FORCED_PIECE_ROWS	16

void
gpusort_init_join_counter(GpuSortJoinCounter *counter)
{
	pg_atomic_init_u64(&counter->next_piece, 0);
	pg_atomic_init_u32(&counter->streams, 0);
}

/* ---------- pieces ---------- */

static uint64
number_of_pieces(uint64 rows, uint64 piece_rows)
{
	return (rows + piece_rows - 1) / piece_rows;
}

/* Returns how many rows a piece is to have, of `rows` rows of both sides together. */
static uint64
plan_piece_rows(const GpuSortJoinRanges *ranges, uint64 rows)
{
	uint64		piece_rows = rows / (ranges->participants * PIECES_EACH);

	return gpusort_force ? FORCED_PIECE_ROWS
		: Min(Max(piece_rows, MIN_PIECE_ROWS), MAX_PIECE_ROWS);
}

static void
plan_pieces(GpuSortJoinRanges *ranges)
{
	GpuSortJoinOrder *order = &ranges->order;
	uint64		rows = 0;

	order->compare = gpusort_compare_join_positions;
	order->arg = ranges->keys;
	for (int i = 0; i < 2; i++)
	{
		order->from[i] = ranges->sides[i].from;
		order->to[i] = ranges->sides[i].to;
		rows += order->to[i] - order->from[i];
	}
	ranges->piece_rows = plan_piece_rows(ranges, rows);
	ranges->pieces = number_of_pieces(rows, ranges->piece_rows);
	for (int i = 0; i < 2; i++)
		ranges->null_pieces[i] = !ranges->unmatched[i] ? 0 :
			number_of_pieces(ranges->sides[i].nrows - (order->to[i] - order->from[i]),
							 ranges->piece_rows);
	ranges->nulls_first = ranges->sides[OUTER].spec.nulls_first[0];
	ranges->next_cut_piece = PG_UINT64_MAX;
}

/* Allocates room for the words of a piece; all its rows may be of one side. */
static void
make_room(GpuSortJoinRanges *ranges)
{
	for (int i = 0; i < 2 && ranges->keys->use_words; i++)
	{
		GpuSortJoinSide *side = &ranges->sides[i];

		if (side->words == NULL)
			side->words = palloc(MAX_PIECE_ROWS * sizeof(uint64));
		side->words_room = MAX_PIECE_ROWS;
	}
}

void
gpusort_begin_join_ranges(GpuSortJoinRanges *ranges)
{
	ranges->streams = !ranges->sides[OUTER].is_view || !ranges->sides[INNER].is_view;
	for (int i = 0; i < 2; i++)
		ranges->at[i] = ranges->end[i] = 0;
	ranges->tail_end = 0;
	ranges->is_null_piece = ranges->is_merged = false;
	if (ranges->streams)
	{
		ranges->is_reader = pg_atomic_fetch_add_u32(&ranges->counter->streams, 1) == 0;
		gpusort_begin_join_stream(&ranges->stream, ranges->sides, ranges->keys);
		return;
	}
	ranges->is_merged = ranges->sides[OUTER].view.merged && ranges->sides[INNER].view.merged;
	if (ranges->is_merged)
	{
		ranges->pieces =
			gpusort_begin_join_merged(&ranges->merged, ranges->sides,
									  plan_piece_rows(ranges,
													  gpusort_join_merged_rows(ranges->sides)),
									  ranges->unmatched, ranges->whole);
		return;
	}
	plan_pieces(ranges);
	make_room(ranges);
}

/* Begins a piece of one side's rows whose first key is null. */
static void
begin_null_piece(GpuSortJoinRanges *ranges, GpuSortJoinEnd side, uint64 piece)
{
	const GpuSortJoinSide *rows = &ranges->sides[side];
	uint64		from = ranges->nulls_first ? 0 : rows->to;
	uint64		to = ranges->nulls_first ? rows->from : rows->nrows;

	ranges->is_null_piece = true;
	ranges->at[!side] = ranges->end[!side] = 0;
	ranges->at[side] = from + piece * ranges->piece_rows;
	ranges->end[side] = Min(ranges->at[side] + ranges->piece_rows, to);
}

static GpuSortJoinCut
cut_before(GpuSortJoinRanges *ranges, uint64 piece)
{
	if (piece == ranges->pieces)
		return (GpuSortJoinCut) {{ranges->order.to[OUTER], ranges->order.to[INNER]}};
	return gpusort_join_cut(&ranges->order, piece * ranges->piece_rows, ranges->whole);
}

/* Finds the piece's tail: inner rows behind the piece that are equal to its last outer rows. */
static void
find_tail(GpuSortJoinRanges *ranges)
{
	GpuSortJoinOrder *order = &ranges->order;
	uint64		inner = ranges->end[INNER];
	uint64		outer = ranges->end[OUTER];

	ranges->tail_end = 0;
	if (ranges->at[OUTER] == outer || inner == order->to[INNER] ||
		gpusort_compare_join_positions(ranges->keys, OUTER, outer - 1, INNER, inner) != 0)
		return;
	ranges->tail_end = gpusort_join_end_of_equals(order, INNER, inner, OUTER, outer - 1);
	if (ranges->keys->use_words)
		ranges->tail_word = gpusort_join_word(&ranges->sides[OUTER],
											  gpusort_join_tuple(&ranges->sides[OUTER], outer - 1));
}

static void
begin_piece(GpuSortJoinRanges *ranges, uint64 piece)
{
	GpuSortJoinCut cut = ranges->next_cut_piece == piece ? ranges->next_cut
		: cut_before(ranges, piece);

	ranges->next_cut = cut_before(ranges, piece + 1);
	ranges->next_cut_piece = piece + 1;
	ranges->is_null_piece = false;
	for (int i = 0; i < 2; i++)
	{
		if (cut.at[i] > ranges->next_cut.at[i])
			gpusort_join_is_out_of_order();
		ranges->at[i] = cut.at[i];
		ranges->end[i] = ranges->next_cut.at[i];
	}
	find_tail(ranges);
}

/*
 * Takes the number of a piece that nobody has taken, of `pieces`; returns false if there is none.
 */
static bool
take_number(GpuSortJoinRanges *ranges, uint64 pieces, uint64 *piece)
{
	if (pg_atomic_read_u64(&ranges->counter->next_piece) >= pieces)
		return false;
	*piece = pg_atomic_fetch_add_u64(&ranges->counter->next_piece, 1);
	CHECK_FOR_INTERRUPTS();
	return *piece < pieces;
}

/* Takes a piece and begins it; returns false if there are no more. */
static bool
take_piece(GpuSortJoinRanges *ranges)
{
	const uint64 *null_pieces = ranges->null_pieces;
	uint64		nulls = null_pieces[OUTER] + null_pieces[INNER];
	uint64		piece;

	if (!take_number(ranges, nulls + ranges->pieces, &piece))
		return false;
	if (ranges->nulls_first ? piece >= nulls : piece < ranges->pieces)
	{
		begin_piece(ranges, ranges->nulls_first ? piece - nulls : piece);
		return true;
	}
	if (!ranges->nulls_first)
		piece -= ranges->pieces;
	if (piece < null_pieces[OUTER])
		begin_null_piece(ranges, OUTER, piece);
	else
		begin_null_piece(ranges, INNER, piece - null_pieces[OUTER]);
	return true;
}

/* ---------- ranges of a piece ---------- */

/*
 * Returns the word of a row of the piece, and loads the words of the rows from there on if need be.
 * Equal inner rows may make a piece longer than planned; its words are then loaded in several
 * turns.
 */
static inline uint64
word_of(GpuSortJoinRanges *ranges, GpuSortJoinEnd end, uint64 position)
{
	GpuSortJoinSide *side = &ranges->sides[end];

	if (unlikely(position - side->words_from >= side->words_loaded))
	{
		uint64		to = Min(ranges->end[end], position + side->words_room);

		gpusort_join_load_words(side, position, to);
	}
	return side->words[position - side->words_from];
}

/* Compares an outer row of the piece with an inner row of the piece. */
static inline int
compare_at(GpuSortJoinRanges *ranges, uint64 outer, uint64 inner)
{
	if (likely(ranges->keys->use_words))
	{
		uint64		a = word_of(ranges, OUTER, outer);
		uint64		b = word_of(ranges, INNER, inner);

		if (a != b)
			return a < b ? -1 : 1;
		if (likely(ranges->keys->words_suffice))
			return 0;
	}
	return gpusort_compare_join_ties(ranges->keys, OUTER, outer, INNER, inner);
}

/* Returns the end of the rows of a side within the piece that are equal to the row at `from`. */
static uint64
end_of_equals(GpuSortJoinRanges *ranges, GpuSortJoinEnd side, uint64 from)
{
	bool		use_words = ranges->keys->use_words;
	bool		words_suffice = ranges->keys->words_suffice;
	uint64		word = use_words ? word_of(ranges, side, from) : 0;
	uint64		end = from + 1;

	for (; end < ranges->end[side]; end++)
	{
		if (use_words && word_of(ranges, side, end) != word)
			break;
		if (!words_suffice &&
			gpusort_compare_join_ties(ranges->keys, side, end, side, from) != 0)
			break;
		if (unlikely(end % 1024 == 0))
			CHECK_FOR_INTERRUPTS();
	}
	return end;
}

/*
 * Passes by the rows of one side up to `to`, which match nothing.  Returns them as a range if such
 * rows are wanted and there are any; else returns false.
 */
static bool
return_unmatched(GpuSortJoinRanges *ranges, GpuSortJoinEnd side, uint64 to,
				 GpuSortJoinRange *range)
{
	uint64		from = ranges->at[side];

	ranges->at[side] = to;
	if (from == to || !ranges->unmatched[side])
		return false;
	range->from[side] = from;
	range->to[side] = to;
	range->from[!side] = range->to[!side] = ranges->at[!side];
	range->matches = false;
	range->owns_inner = true;
	return true;
}

/*
 * Returns whether a key other than the first is null in an outer row: then equal rows of both sides
 * do not match.
 */
static bool
has_null(const GpuSortJoinRanges *ranges, uint64 outer)
{
	GpuSortJoinSide *side = &ranges->sides[OUTER];

	if (ranges->keys->nkeys == 1)
		return false;
	gpusort_join_load(side, outer);
	return gpusort_join_row_has_null(side);
}

/*
 * Raises an error unless the rows that follow equal rows of both sides are greater than these, also
 * for the comparison across the sides.
 */
static void
check_order(GpuSortJoinRanges *ranges, uint64 outer_end, uint64 inner_end)
{
	if ((outer_end < ranges->end[OUTER] && compare_at(ranges, outer_end, inner_end - 1) <= 0) ||
		(inner_end < ranges->end[INNER] && compare_at(ranges, outer_end - 1, inner_end) >= 0))
		gpusort_join_is_out_of_order();
}

/* Sets the range to equal rows of both sides, and passes by the outer ones. */
static void
return_equals(GpuSortJoinRanges *ranges, uint64 outer_end, uint64 inner, uint64 inner_end,
			  GpuSortJoinRange *range)
{
	range->from[OUTER] = ranges->at[OUTER];
	range->to[OUTER] = outer_end;
	range->from[INNER] = inner;
	range->to[INNER] = inner_end;
	range->matches = !has_null(ranges, range->from[OUTER]);
	ranges->at[OUTER] = outer_end;
}

/* Compares an outer row of the piece with the inner rows of the tail. */
static int
compare_with_tail(GpuSortJoinRanges *ranges, uint64 outer)
{
	if (ranges->keys->use_words)
	{
		uint64		word = word_of(ranges, OUTER, outer);

		if (word != ranges->tail_word)
			return word < ranges->tail_word ? -1 : 1;
		if (ranges->keys->words_suffice)
			return 0;
	}
	return gpusort_compare_join_ties(ranges->keys, OUTER, outer, INNER, ranges->end[INNER]);
}

/*
 * Returns the next range when all inner rows of the piece have been looked at: outer rows that
 * match nothing, or match the tail.  Returns false if there is none.
 */
static bool
next_behind_inner(GpuSortJoinRanges *ranges, GpuSortJoinRange *range)
{
	uint64		outer = ranges->at[OUTER];
	uint64		end = ranges->end[OUTER];

	if (ranges->tail_end == 0)
		return return_unmatched(ranges, OUTER, end, range);
	while (outer < end && compare_with_tail(ranges, outer) < 0)
		outer++;
	if (return_unmatched(ranges, OUTER, outer, range))
		return true;
	return_equals(ranges, end, ranges->end[INNER], ranges->tail_end, range);
	range->owns_inner = false;
	return true;
}

/* Returns the next range of the piece; false if no more are wanted. */
static bool
next_in_piece(GpuSortJoinRanges *ranges, GpuSortJoinRange *range)
{
	uint64		outer_end = ranges->end[OUTER];
	uint64		inner_end = ranges->end[INNER];

	while (ranges->at[OUTER] < outer_end && ranges->at[INNER] < inner_end)
	{
		uint64		outer = ranges->at[OUTER];
		uint64		inner = ranges->at[INNER];
		int			cmp = compare_at(ranges, outer, inner);

		if (cmp < 0)
		{
			do
				outer++;
			while (outer < outer_end && (cmp = compare_at(ranges, outer, inner)) < 0);
			if (return_unmatched(ranges, OUTER, outer, range))
				return true;
		}
		else if (cmp > 0)
		{
			do
				inner++;
			while (inner < inner_end && (cmp = compare_at(ranges, outer, inner)) > 0);
			if (return_unmatched(ranges, INNER, inner, range))
				return true;
		}
		else
		{
			ranges->at[INNER] = end_of_equals(ranges, INNER, inner);
			return_equals(ranges, end_of_equals(ranges, OUTER, outer), inner, ranges->at[INNER],
						  range);
			if (unlikely(ranges->keys->doubtful))
				check_order(ranges, range->to[OUTER], range->to[INNER]);
			range->owns_inner = true;
			return true;
		}
	}
	if (ranges->at[OUTER] < outer_end && next_behind_inner(ranges, range))
		return true;
	return return_unmatched(ranges, INNER, inner_end, range);
}

static bool
next_merged_range(GpuSortJoinRanges *ranges, GpuSortJoinRange *range)
{
	uint64		piece;

	while (!gpusort_next_join_merged_range(&ranges->merged, range))
	{
		if (!take_number(ranges, ranges->pieces, &piece))
			return false;
		gpusort_begin_join_merged_piece(&ranges->merged, piece);
	}
	return true;
}

bool
gpusort_next_join_range(GpuSortJoinRanges *ranges, GpuSortJoinRange *range)
{
	if (unlikely(ranges->streams))
		return ranges->is_reader && gpusort_next_join_stream_range(&ranges->stream, range);
	if (ranges->is_merged)
		return next_merged_range(ranges, range);
	for (;;)
	{
		if (likely(!ranges->is_null_piece))
		{
			if (next_in_piece(ranges, range))
				return true;
		}
		else if (return_unmatched(ranges, OUTER, ranges->end[OUTER], range) ||
				 return_unmatched(ranges, INNER, ranges->end[INNER], range))
			return true;
		if (!take_piece(ranges))
			return false;
	}
}
