/*
 * sort_verify.c
 *		One pass of the operator class's own comparison over neighbouring rows.
 *
 * A comparison that is a total order has sorted the whole if it has sorted all
 * neighbours, so n - 1 comparisons prove what took n log n to make.  Done for
 * codecs that rest on a library's word (libc's strxfrm need not agree with its
 * strcoll), and for every sort with gpusort.verify.
 *
 * A row before which another one belongs is not the end of it.  glibc's functions
 * disagree on few strings (2.36: on which of "1-B" and "-1b-" is less), and these are
 * neighbours or nearly so.  So such a row is put in its place among the rows before it, which
 * are known to be in order.  Only if that is far off, or happens often, is the whole
 * sort done again by comparison.
 *
 * In an index build the equal bitmap is checked too, since uniqueness is judged
 * by it, and the TIDs of equal rows.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "settings.h"
#include "pg_compat.h"
#include "sort_internal.h"

/* Rows looked ahead, for prefetching. */
#define VERIFY_AHEAD	16

/*
 * How far a row is moved, and how many positions rows are moved by in all, as a share
 * of the rows: about a tenth of what the verification takes.
 */
#define REPAIR_REACH	1024
#define REPAIR_MIN		10000
#define REPAIR_SHARE	16

typedef struct Verifier
{
	GpuSort    *sort;
	SortSupport keys;
	TupleTableSlot *slots[2];	/* of minimal tuples */
	Datum	   *values[2];		/* keys of a row and the one before */
	bool	   *isnull[2];
	uint64		repairs_left;	/* positions that rows may still be moved by */
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
	{
		if (!sort->index_rows)
			v->slots[i] = MakeTupleTableSlot(sort->desc, &TTSOpsMinimalTuple);
		v->values[i] = palloc(sort->ncolumns * sizeof(Datum));
		v->isnull[i] = palloc(sort->ncolumns * sizeof(bool));
	}
	v->repairs_left = sort->nrows / REPAIR_SHARE + REPAIR_MIN;
}

/* Get the keys of a stored row as number `which` of the two. */
static void
load_keys(Verifier *v, int which, uint32 id)
{
	GpuSort    *sort = v->sort;
	TupleTableSlot *slot = v->slots[which];
	void	   *row = row_by_id(sort, id);

	if (!sort->index_rows)
		ExecStoreMinimalTuple(row, slot, false);
	for (int i = 0; i < sort->ncolumns; i++)
	{
		bool	   *isnull = &v->isnull[which][i];
		AttrNumber	attno = v->keys[i].ssup_attno;

		v->values[which][i] = sort->index_rows
			? index_getattr((IndexTuple) row, attno, sort->desc, isnull)
			: slot_getattr(slot, attno, isnull);
	}
}

/* Compare the keys of row number a with those of row number b. */
static int
compare_keys(Verifier *v, int a, int b)
{
	int			cmp = 0;

	for (int i = 0; i < v->sort->ncolumns && cmp == 0; i++)
		cmp = ApplySortComparator(v->values[a][i], v->isnull[a][i],
								  v->values[b][i], v->isnull[b][i], &v->keys[i]);
	return cmp;
}

static bool
is_equal(const GpuSort *sort, uint64 i)
{
	return (RANGE_U64(sort->equal)[i / 64] >> (i % 64) & 1) != 0;
}

static void
set_equal(GpuSort *sort, uint64 i, bool equal)
{
	uint64		bit = UINT64CONST(1) << (i % 64);
	uint64	   *word = &RANGE_U64(sort->equal)[i / 64];

	*word = equal ? *word | bit : *word & ~bit;
}

/*
 * Is the row at position i in the right relation to the one before, given the
 * comparison of that one with it, which is not greater?
 */
static bool
equality_is_right(const GpuSort *sort, uint64 i, int cmp)
{
	IndexTuple	before;
	IndexTuple	now;

	if (!sort->index_rows)
		return true;
	if (is_equal(sort, i) != (cmp == 0))
		return false;
	before = row_by_id(sort, sort->order[i - 1]);
	now = row_by_id(sort, sort->order[i]);
	return cmp != 0 || tid_word(&before->t_tid) < tid_word(&now->t_tid);
}

/* Move the row at position i to position `to` before it. */
static void
move_row(GpuSort *sort, uint64 i, uint64 to, bool equal)
{
	uint32		id = sort->order[i];

	Assert(sort->sorted_rows == NULL);
	memmove(&sort->order[to + 1], &sort->order[to], (i - to) * sizeof(uint32));
	sort->order[to] = id;
	if (sort->index_rows)
	{
		for (uint64 k = i; k > to + 1; k--)
			set_equal(sort, k, is_equal(sort, k - 1));
		set_equal(sort, to + 1, false);
		set_equal(sort, to, equal);
	}
	sort->stats.repaired_rows++;
}

/*
 * The row at position i, loaded as number `now`, is less than the one before: put
 * it behind the last row that is not greater.  False if that is too far away.
 * In the end the row at position i, which was before, is loaded instead.
 */
static bool
repair_order(Verifier *v, uint64 i, int now)
{
	GpuSort    *sort = v->sort;
	uint64		reach = Min(Min(i, REPAIR_REACH), v->repairs_left);
	uint64		to = i - 1;
	int			cmp = 1;

	/* rows are nearly where they belong, so that there is nothing to search for */
	while (to > 0 && cmp > 0)
	{
		if (i - to >= reach)
			return false;
		load_keys(v, now ^ 1, sort->order[to - 1]);
		cmp = compare_keys(v, now ^ 1, now);
		if (cmp > 0)
			to--;
	}
	v->repairs_left -= i - to;
	move_row(sort, i, to, to > 0 && cmp == 0);
	if (to > 0 && !equality_is_right(sort, to, cmp))
		return false;
	load_keys(v, now, sort->order[i]);
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
		int			now = i & 1;

		if ((i & 1023) == 0)
		{
			CHECK_FOR_INTERRUPTS();
			gs_progress_advance(sort->progress, 1024);
			MemoryContextReset(compare_context);
		}
		if (i + VERIFY_AHEAD < sort->nrows)
			prefetch_line(row_by_id(sort, order[i + VERIFY_AHEAD]));
		load_keys(v, now, order[i]);
		if (i > 0)
		{
			int			cmp = compare_keys(v, now ^ 1, now);

			right = cmp > 0 ? sort->untrusted && repair_order(v, i, now) :
				equality_is_right(sort, i, cmp);
		}
	}
	for (int i = 0; i < 2 && !sort->index_rows; i++)
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
	gs_progress outer;

	if (!gpusort_must_verify(sort))
		return true;

	INSTR_TIME_SET_CURRENT(start);
	context = AllocSetContextCreate(sort->context, "gpusort verifier", ALLOCSET_SMALL_SIZES);
	old = MemoryContextSwitchTo(context);
	begin_verifier(&verifier, sort);
	outer = gpusort_enter_verification(sort);
	right = check_neighbours(&verifier) && gpusort_inject_fault != GPUSORT_FAULT_VERIFY;
	gs_progress_leave(sort->progress, &outer);
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
