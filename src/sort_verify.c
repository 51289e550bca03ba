/*
 * sort_verify.c
 *		One pass of the operator class's own comparison over neighbouring rows.
 *
 * A comparison that is a total order has sorted the whole if it has sorted all
 * neighbours, so n - 1 comparisons prove what took n log n to make.  Done for
 * codecs that rest on a library's word (libc's strxfrm need not agree with its
 * strcoll), and for every sort with gpusort.verify.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "settings.h"
#include "sort_internal.h"

/* Rows looked ahead, for prefetching. */
#define VERIFY_AHEAD	16

typedef struct Verifier
{
	GpuSort    *sort;
	SortSupport keys;
	TupleTableSlot *slots[2];
} Verifier;

static void
begin_verifier(Verifier *v, GpuSort *sort)
{
	v->sort = sort;
	v->keys = palloc0(sort->ncolumns * sizeof(SortSupportData));
	for (int i = 0; i < sort->ncolumns; i++)
	{
		SortSupport key = &v->keys[i];

		key->ssup_cxt = CurrentMemoryContext;
		key->ssup_collation = sort->spec.collations[i];
		key->ssup_nulls_first = sort->spec.nulls_first[i];
		key->ssup_attno = sort->spec.attnos[i];
		key->abbreviate = false;
		PrepareSortSupportFromOrderingOp(sort->spec.sortops[i], key);
	}
	for (int i = 0; i < 2; i++)
		v->slots[i] = MakeTupleTableSlot(sort->desc, &TTSOpsMinimalTuple);
}

/* Is the row in slot a not after the row in slot b? */
static bool
in_order(Verifier *v, TupleTableSlot *a, TupleTableSlot *b)
{
	for (int i = 0; i < v->sort->ncolumns; i++)
	{
		SortSupport key = &v->keys[i];
		int			att = key->ssup_attno - 1;
		int			cmp;

		slot_getsomeattrs(a, att + 1);
		slot_getsomeattrs(b, att + 1);
		cmp = ApplySortComparator(a->tts_values[att], a->tts_isnull[att],
								  b->tts_values[att], b->tts_isnull[att], key);
		if (cmp != 0)
			return cmp < 0;
	}
	return true;
}

static bool
check_neighbours(Verifier *v)
{
	GpuSort    *sort = v->sort;
	const uint32 *order = sort->order;
	MemoryContext compare_context = AllocSetContextCreate(CurrentMemoryContext,
														  "gpusort verify",
														  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(compare_context);
	bool		right = true;

	for (uint64 i = 0; i < sort->nrows && right; i++)
	{
		TupleTableSlot *now = v->slots[i & 1];

		if ((i & 1023) == 0)
		{
			CHECK_FOR_INTERRUPTS();
			MemoryContextReset(compare_context);
		}
		if (i + VERIFY_AHEAD < sort->nrows)
			prefetch_line(row_by_id(sort, order[i + VERIFY_AHEAD]));
		ExecStoreMinimalTuple(row_by_id(sort, order[i]), now, false);
		if (i > 0)
			right = in_order(v, v->slots[(i & 1) ^ 1], now);
	}
	for (int i = 0; i < 2; i++)
		ExecClearTuple(v->slots[i]);
	MemoryContextSwitchTo(old);
	return right;
}

bool
gpusort_must_verify(const GpuSort *sort)
{
	return (gpusort_verify || sort->untrusted) && sort->nrows >= 2;
}

bool
gpusort_order_is_right(GpuSort *sort)
{
	MemoryContext context;
	MemoryContext old;
	Verifier	verifier;
	bool		right;
	instr_time	start;

	if (!gpusort_must_verify(sort))
		return true;

	INSTR_TIME_SET_CURRENT(start);
	context = AllocSetContextCreate(sort->context, "gpusort verifier", ALLOCSET_SMALL_SIZES);
	old = MemoryContextSwitchTo(context);
	begin_verifier(&verifier, sort);
	right = check_neighbours(&verifier) && gpusort_inject_fault != GPUSORT_FAULT_VERIFY;
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);

	sort->stats.verified = true;
	INSTR_TIME_SET_CURRENT(sort->stats.verify_time);
	INSTR_TIME_SUBTRACT(sort->stats.verify_time, start);

	/* an untrusted library is known to do that; anything else is our mistake */
	if (!right && !sort->untrusted && gpusort_inject_fault != GPUSORT_FAULT_VERIFY)
		ereport(WARNING,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("gpusort found its own result out of order and sorts it again with PostgreSQL's comparison"),
				 errdetail("Sort key: %s.", gpusort_describe_key(sort)),
				 errhint("Please report this; \"gpusort.enabled\" switches gpusort off.")));
	return right;
}
