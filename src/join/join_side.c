/*
 * join_side.c
 *		One side of a join; see join_side.h.
 */
#include "postgres.h"

#include "access/tupmacs.h"
#include "executor/executor.h"
#include "miscadmin.h"

#include "exec/exec_shared.h"
#include "exec/exec_sort.h"
#include "join/join_side.h"
#include "plan/plan_node.h"
#include "prefetch.h"
#include "sort/sort.h"

/* How many rows' words are made at a time, while as many rows behind them are prefetched. */
#define WORDS_BLOCK 32

void
gpusort_begin_join_side(GpuSortJoinSide *side, PlanState *child, EState *estate)
{
	const CustomScan *scan = castNode(CustomScan, child->plan);
	TupleDesc	desc = ExecGetResultType(child);
	AttrNumber	attno;

	side->child = child;
	side->is_shared = gpusort_is_node(child->plan, GPUSORT_SHARED_NODE);
	if (!side->is_shared && !gpusort_is_node(child->plan, GPUSORT_NODE))
		elog(ERROR, "gpusort: a join of something else than sorts");
	gpusort_read_returned_spec(scan, &side->spec);
	side->own_slot = ExecInitExtraTupleSlot(estate, desc, &TTSOpsMinimalTuple);
	side->null_slot = ExecInitNullTupleSlot(estate, desc, &TTSOpsVirtual);
	attno = side->spec.attnos[0];
	side->column.length = TupleDescAttr(desc, attno - 1)->attlen;
	side->column.by_value = TupleDescAttr(desc, attno - 1)->attbyval;
	side->column.offset = side->column.length > 0 ? gpusort_fixed_offset(desc, attno) : -1;
}

/* ---------- the result ---------- */

static bool
is_null_at(GpuSortJoinSide *side, uint64 position)
{
	gpusort_store_tuple(side->own_slot, gpusort_join_tuple(side, position));
	return slot_attisnull(side->own_slot, side->spec.attnos[0]);
}

/* Finds the rows whose first sort column is not null: nulls are at one end. */
static void
find_nulls(GpuSortJoinSide *side)
{
	bool		nulls_first = side->spec.nulls_first[0];
	uint64		low = 0;
	uint64		high = side->nrows;

	while (low < high)
	{
		uint64		middle = low + (high - low) / 2;

		if (is_null_at(side, middle) == nulls_first)
			low = middle + 1;
		else
			high = middle;
	}
	side->from = nulls_first ? low : 0;
	side->to = nulls_first ? side->nrows : low;
	gpusort_clear_join_side(side);
}

void
gpusort_open_join_side(GpuSortJoinSide *side)
{
	side->is_view = side->is_shared ? gpusort_shared_view(side->child, &side->view)
		: gpusort_sorted_view(side->child, &side->view);
	side->next = side->marked = 0;
	side->streamed = NULL;
	side->slot = NULL;
	side->words_loaded = 0;
	if (!side->is_view)
		return;
	side->slot = side->own_slot;
	side->nrows = side->view.nrows;
	side->from = side->to = 0;
	if (!side->view.merged)
		find_nulls(side);
}

void
gpusort_clear_join_side(GpuSortJoinSide *side)
{
	ExecClearTuple(side->own_slot);
}

/* ---------- by position ---------- */

static inline bool
has_fixed_place(const GpuSortJoinSide *side, MinimalTuple tuple)
{
	return side->column.offset >= 0 && (tuple->t_infomask & HEAP_HASNULL) == 0;
}

/* Returns the first sort column's value in a tuple for which has_fixed_place() is true. */
static inline const char *
fixed_value(const GpuSortJoinSide *side, MinimalTuple tuple)
{
	return (const char *) tuple - MINIMAL_TUPLE_OFFSET + tuple->t_hoff + side->column.offset;
}

static inline uint64
integer_word(const GpuSortJoinSide *side, const char *value)
{
	int64		integer;

	switch (side->word.integer_bytes)
	{
		case sizeof(int16):
			integer = *(const int16 *) value;
			break;
		case sizeof(int32):
			integer = *(const int32 *) value;
			break;
		default:
			integer = *(const int64 *) value;
			break;
	}
	return word_from_int64(integer) ^ side->word.flip;
}

uint64
gpusort_join_word(GpuSortJoinSide *side, MinimalTuple tuple)
{
	MemoryContext old;
	uint64		word;
	Datum		value;
	bool		isnull;

	if (has_fixed_place(side, tuple))
	{
		const char *place = fixed_value(side, tuple);

		if (side->word.integer_bytes > 0)
			return integer_word(side, place);
		value = fetch_att(place, side->column.by_value, side->column.length);
	}
	else
	{
		gpusort_store_tuple(side->own_slot, tuple);
		value = slot_getattr(side->own_slot, side->spec.attnos[0], &isnull);
		Assert(!isnull);
	}
	if (side->column.by_value)
		return gpusort_first_word(&side->word, value);
	old = MemoryContextSwitchTo(side->scratch);
	word = gpusort_first_word(&side->word, value);
	MemoryContextSwitchTo(old);
	MemoryContextReset(side->scratch);
	return word;
}

/*
 * Sets rows[] to the rows from .. to - 1, at most WORDS_BLOCK of them, and prefetches these;
 * returns their number.
 */
static int
fetch_block(const GpuSortJoinSide *side, uint64 from, uint64 to, void **rows)
{
	int			count = from < to ? (int) Min(to - from, WORDS_BLOCK) : 0;

	if (count == 0)
		return 0;
	gpusort_view_fetch(&side->view, from, count, rows);
	for (int i = 0; i < count; i++)
		prefetch_line(rows[i]);
	return count;
}

void
gpusort_join_load_words(GpuSortJoinSide *side, uint64 from, uint64 to)
{
	void	   *rows[2][WORDS_BLOCK];
	uint64	   *word = side->words;
	int			count = fetch_block(side, from, to, rows[0]);

	Assert(to - from <= side->words_room);
	side->words_from = from;
	side->words_loaded = to - from;
	for (int turn = 0; count > 0; turn ^= 1)
	{
		int			next;

		from += count;
		next = fetch_block(side, from, to, rows[turn ^ 1]);
		for (int i = 0; i < count; i++)
			*word++ = gpusort_join_word(side, rows[turn][i]);
		count = next;
	}
}

/* ---------- through the child ---------- */

static bool
fetch_next(GpuSortJoinSide *side)
{
	side->streamed = ExecProcNode(side->child);
	if (TupIsNull(side->streamed))
		side->streamed = NULL;
	side->slot = side->streamed;
	side->next++;
	return side->streamed != NULL;
}

/* Moves the child so that it returns the row at a position, which is not before the mark, next. */
static void
go_before(GpuSortJoinSide *side, uint64 position)
{
	if (position < side->next)
	{
		Assert(position >= side->marked);
		ExecRestrPos(side->child);
		side->next = side->marked;
	}
	while (side->next < position)
	{
		CHECK_FOR_INTERRUPTS();
		(void) fetch_next(side);
	}
}

bool
gpusort_join_seek(GpuSortJoinSide *side, uint64 position)
{
	if (side->next != position + 1)
	{
		go_before(side, position);
		(void) fetch_next(side);
	}
	return side->streamed != NULL;
}

bool
gpusort_join_seek_and_mark(GpuSortJoinSide *side, uint64 position)
{
	go_before(side, position);
	ExecMarkPos(side->child);
	side->marked = position;
	return fetch_next(side);
}
