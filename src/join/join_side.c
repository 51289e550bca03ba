/*
 * join_side.c
 *		One side of a join, and comparing the rows of two; see join_private.h.
 */
#include "postgres.h"

#include "access/nbtree.h"
#include "access/tupmacs.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "exec/exec.h"
#include "join/join_private.h"
#include "pg_compat/keys.h"
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
	const GpuSortResult *result = gpusort_exec_result(side->child, true);

	side->is_view = result != NULL && gpusort_result_is_whole(result) &&
		gpusort_result_view(result, &side->view);
	side->next = side->marked = 0;
	side->streamed = NULL;
	side->slot = NULL;
	side->words_loaded = 0;
	side->ahead_to = 0;
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

/* ---------- comparing the rows of two sides ---------- */

/* Prepares the comparison of a sort column's values, one of side a with one of side b. */
static void
begin_comparison(SortSupport key, const GpuSortJoinSide *a, const GpuSortJoinSide *b, int column)
{
	Oid			opfamily;
	Oid			types[2];
	bool		reverse;
	Oid			function = InvalidOid;

	key->ssup_cxt = CurrentMemoryContext;
	key->ssup_collation = a->spec.collations[column];
	key->ssup_nulls_first = a->spec.nulls_first[column];
	if (!gpusort_ordering_op(b->spec.sortops[column], &opfamily, &types[1], &reverse) ||
		!gpusort_ordering_op(a->spec.sortops[column], &opfamily, &types[0], &reverse))
		elog(ERROR, "gpusort: a join by something else than ordering operators");
	key->ssup_reverse = reverse;
	if (types[0] == types[1])
		function = get_opfamily_proc(opfamily, types[0], types[1], BTSORTSUPPORT_PROC);
	if (OidIsValid(function))
		OidFunctionCall1(function, PointerGetDatum(key));
	if (key->comparator == NULL)
	{
		function = get_opfamily_proc(opfamily, types[0], types[1], BTORDER_PROC);
		if (!OidIsValid(function))
			elog(ERROR, "missing support function %d(%u,%u) in opfamily %u",
				 BTORDER_PROC, types[0], types[1], opfamily);
		PrepareSortSupportComparisonShim(function, key);
	}
}

static SortSupport
begin_comparisons(const GpuSortJoinSide *a, const GpuSortJoinSide *b)
{
	SortSupport keys = palloc0(a->spec.nkeys * sizeof(SortSupportData));

	for (int i = 0; i < a->spec.nkeys; i++)
		begin_comparison(&keys[i], a, b, i);
	return keys;
}

/* Prepares both sides for making first words, if these can be compared. */
static void
begin_words(GpuSortJoinKeys *keys)
{
	GpuSortSpec *specs[2] = {&keys->sides[0].spec, &keys->sides[1].spec};
	Oid			types[2];

	for (int i = 0; i < 2; i++)
	{
		TupleDesc	desc = ExecGetResultType(keys->sides[i].child);

		types[i] = TupleDescAttr(desc, specs[i]->attnos[0] - 1)->atttypid;
	}
	keys->use_words = gpusort_first_words_compare(specs[0]->sortops[0], types[0],
												  specs[1]->sortops[0], types[1],
												  specs[0]->collations[0]);
	if (!keys->use_words)
		return;
	for (int i = 0; i < 2; i++)
		gpusort_begin_first_word(&keys->sides[i].word, specs[i]->sortops[0], types[i],
								 specs[i]->collations[0]);
	keys->words_suffice = keys->nkeys == 1 && keys->sides[0].word.exact;
}

static bool
types_differ(const GpuSortJoinKeys *keys)
{
	const GpuSortSpec *specs[2] = {&keys->sides[0].spec, &keys->sides[1].spec};

	return memcmp(specs[0]->sortops, specs[1]->sortops, keys->nkeys * sizeof(Oid)) != 0;
}

void
gpusort_begin_join_keys(GpuSortJoinKeys *keys, GpuSortJoinSide *sides, EState *estate)
{
	keys->sides = sides;
	keys->nkeys = sides[0].spec.nkeys;
	if (keys->nkeys != sides[1].spec.nkeys)
		elog(ERROR, "gpusort: a join of sides that are sorted by different columns");
	for (int a = 0; a < 2; a++)
	{
		for (int b = 0; b < 2; b++)
			keys->compare[a][b] = begin_comparisons(&sides[a], &sides[b]);
		keys->slots[a] = ExecInitExtraTupleSlot(estate, ExecGetResultType(sides[a].child),
												&TTSOpsMinimalTuple);
		keys->other_slots[a] = ExecInitExtraTupleSlot(estate, ExecGetResultType(sides[a].child),
													  &TTSOpsMinimalTuple);
	}
	keys->scratch = AllocSetContextCreate(CurrentMemoryContext, "GpuSort Join comparisons",
										  ALLOCSET_SMALL_SIZES);
	sides[0].scratch = sides[1].scratch = keys->scratch;
	begin_words(keys);
	keys->doubtful = types_differ(keys) && !keys->words_suffice;
}

void
gpusort_join_is_out_of_order(void)
{
	elog(ERROR, "mergejoin input data is out of order");
}

void
gpusort_clear_join_keys(GpuSortJoinKeys *keys)
{
	for (int i = 0; i < 2; i++)
	{
		ExecClearTuple(keys->slots[i]);
		ExecClearTuple(keys->other_slots[i]);
	}
}

static int
compare_slots(GpuSortJoinKeys *keys, GpuSortJoinEnd a, TupleTableSlot *row, GpuSortJoinEnd b,
			  TupleTableSlot *other)
{
	SortSupport compare = keys->compare[a][b];
	const AttrNumber *attnos = keys->sides[a].spec.attnos;
	const AttrNumber *other_attnos = keys->sides[b].spec.attnos;
	MemoryContext old = MemoryContextSwitchTo(keys->scratch);
	int			cmp = 0;

	for (int i = 0; i < keys->nkeys && cmp == 0; i++)
	{
		bool		isnull;
		bool		other_isnull;
		Datum		value = slot_getattr(row, attnos[i], &isnull);
		Datum		other_value = slot_getattr(other, other_attnos[i], &other_isnull);

		cmp = ApplySortComparator(value, isnull, other_value, other_isnull, &compare[i]);
	}
	MemoryContextSwitchTo(old);
	MemoryContextReset(keys->scratch);
	return cmp;
}

int
gpusort_compare_join_ties(GpuSortJoinKeys *keys, GpuSortJoinEnd a, uint64 i, GpuSortJoinEnd b,
						  uint64 j)
{
	TupleTableSlot *row = keys->slots[a];
	TupleTableSlot *other = a == b ? keys->other_slots[b] : keys->slots[b];

	if (keys->words_suffice)
		return 0;
	gpusort_store_tuple(row, gpusort_join_tuple(&keys->sides[a], i));
	gpusort_store_tuple(other, gpusort_join_tuple(&keys->sides[b], j));
	return compare_slots(keys, a, row, b, other);
}

static uint64
word_at(GpuSortJoinKeys *keys, GpuSortJoinEnd side, uint64 position)
{
	return gpusort_join_word(&keys->sides[side],
							 gpusort_join_tuple(&keys->sides[side], position));
}

int
gpusort_compare_join_positions(void *arg, GpuSortJoinEnd a, uint64_t i, GpuSortJoinEnd b,
							   uint64_t j)
{
	GpuSortJoinKeys *keys = arg;

	if (keys->use_words)
	{
		uint64		word = word_at(keys, a, i);
		uint64		other = word_at(keys, b, j);

		if (word != other)
			return word < other ? -1 : 1;
	}
	return gpusort_compare_join_ties(keys, a, i, b, j);
}

int
gpusort_compare_join_rows(GpuSortJoinKeys *keys)
{
	return compare_slots(keys, GPUSORT_JOIN_OUTER, keys->sides[GPUSORT_JOIN_OUTER].slot,
						 GPUSORT_JOIN_INNER, keys->sides[GPUSORT_JOIN_INNER].slot);
}

bool
gpusort_join_row_has_null(const GpuSortJoinSide *side)
{
	for (int i = 0; i < side->spec.nkeys; i++)
	{
		if (slot_attisnull(side->slot, side->spec.attnos[i]))
			return true;
	}
	return false;
}
