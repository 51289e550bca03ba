/*
 * join_keys.c
 *		Comparing the rows of two sides; see join_keys.h.
 */
#include "postgres.h"

#include "access/nbtree.h"
#include "executor/executor.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "join/join_keys.h"
#include "pg_compat/keys.h"

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
