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
 * neighbours or nearly so.  So such a row, with all that are equal to it, is put in its
 * place among the rows before it, which are known to be in order.  Only if that comes to
 * more than moving all rows a few times is the whole sort done again by comparison.
 *
 * In an index build the equal bitmap is checked too, since uniqueness is judged
 * by it, and the TIDs of equal rows.  There workers help (sort_verify.h): each takes
 * stretches of the order and notes which rows are not in the right relation to the one
 * before.  Then one process looks at these only.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "elapsed.h"
#include "interrupts.h"
#include "pg_compat.h"
#include "settings.h"
#include "sort/sort_internal.h"
#include "sort/sort_verify.h"

/* Rows looked ahead, for prefetching. */
#define VERIFY_AHEAD	16

/*
 * Rows that are moved, and rows that they are moved across, for each row of the sort.
 * They cost a few ns, where the verification takes 200.
 */
#define MOVES			4

/* Rows of a stretch, and stretches of small sorts. */
#define MAX_STRETCH		((uint64) 1 << 16)
#define MIN_STRETCHES	64

typedef struct Verifier
{
	int			ncolumns;
	SortSupport keys;
	TupleDesc	desc;
	const GpuSort *sort;		/* minimal tuples; NULL: index tuples */
	GpuSortView view;			/* index tuples */
	gs_progress *progress;
	MemoryContext compare_context;
	TupleTableSlot *slots[2];	/* of minimal tuples */
	Datum	   *values[2];		/* keys of a row and the one before: that of position
								 * i is number i % 2 */
	bool	   *isnull[2];
	uint64		moves_left;
} Verifier;

static void
begin_verifier(Verifier *v, TupleDesc desc, const GpuSortSpec *spec)
{
	memset(v, 0, sizeof(*v));
	v->ncolumns = spec->nkeys;
	v->desc = desc;
	v->keys = palloc0(spec->nkeys * sizeof(SortSupportData));
	for (int i = 0; i < spec->nkeys; i++)
	{
		SortSupport key = &v->keys[i];

		key->ssup_cxt = CurrentMemoryContext;
		key->ssup_collation = spec->collations[i];
		key->ssup_nulls_first = spec->nulls_first[i];
		key->ssup_attno = spec->attnos[i];
		key->abbreviate = false;
		PrepareSortSupportFromOrderingOp(spec->sortops[i], key);
	}
	for (int i = 0; i < 2; i++)
	{
		v->values[i] = palloc(spec->nkeys * sizeof(Datum));
		v->isnull[i] = palloc(spec->nkeys * sizeof(bool));
	}
	v->compare_context = AllocSetContextCreate(CurrentMemoryContext, "gpusort verify",
											   ALLOCSET_DEFAULT_SIZES);
}

/* Verify a sort of this process. */
static void
begin_own_verifier(Verifier *v, GpuSort *sort)
{
	begin_verifier(v, sort->desc, &sort->spec);
	v->progress = sort->progress;
	v->moves_left = MOVES * sort->rows.count;
	if (sort->index_rows)
	{
		gpusort_view(sort, &v->view);
		return;
	}
	v->sort = sort;
	for (int i = 0; i < 2; i++)
		v->slots[i] = MakeTupleTableSlot(sort->desc, &TTSOpsMinimalTuple);
}

static inline void *
row_at(const Verifier *v, uint64 position)
{
	return v->sort != NULL ? gpusort_row_at(&v->sort->rows.places, v->sort->order.ids[position])
		: gpusort_view_row(&v->view, position);
}

/* Get the keys of the row at a position, as number `which` of the two. */
static void
load_keys(Verifier *v, int which, uint64 position)
{
	TupleTableSlot *slot = v->slots[which];
	void	   *row = row_at(v, position);

	if (slot != NULL)
		ExecStoreMinimalTuple(row, slot, false);
	for (int i = 0; i < v->ncolumns; i++)
	{
		bool	   *isnull = &v->isnull[which][i];
		AttrNumber	attno = v->keys[i].ssup_attno;

		v->values[which][i] = slot != NULL
			? slot_getattr(slot, attno, isnull)
			: index_getattr((IndexTuple) row, attno, v->desc, isnull);
	}
}

/* Compare the keys loaded as number a with those loaded as number b. */
static int
compare_keys(Verifier *v, int a, int b)
{
	int			cmp = 0;

	for (int i = 0; i < v->ncolumns && cmp == 0; i++)
		cmp = ApplySortComparator(v->values[a][i], v->isnull[a][i],
								  v->values[b][i], v->isnull[b][i], &v->keys[i]);
	return cmp;
}

/*
 * Is the row at a position in the right relation to the one before, given the
 * comparison of that one with it?
 */
static bool
neighbours_are_right(const Verifier *v, uint64 position, int cmp)
{
	IndexTuple	before;
	IndexTuple	now;

	if (v->sort != NULL || cmp > 0)
		return cmp <= 0;
	if (gpusort_view_is_equal(&v->view, position) != (cmp == 0))
		return false;
	before = row_at(v, position - 1);
	now = row_at(v, position);
	return cmp != 0 || tid_word(&before->t_tid) < tid_word(&now->t_tid);
}

/*
 * Compare the rows from position `from`, which is not 0, up to `to` each with the
 * one before.  Returns the position of the first one that is wrong, of which the keys
 * are loaded and *cmp is the comparison; or `to`.
 */
static uint64
find_wrong(Verifier *v, uint64 from, uint64 to, int *cmp)
{
	MemoryContext old = MemoryContextSwitchTo(v->compare_context);
	uint64		nrows = v->sort != NULL ? v->sort->rows.count : v->view.nrows;
	uint64		i;

	load_keys(v, (from - 1) & 1, from - 1);
	for (i = from; i < to; i++)
	{
		int			now = i & 1;

		if (i % GPUSORT_INTERRUPT_ROWS == 0)
		{
			CHECK_FOR_INTERRUPTS();
			gs_progress_advance(v->progress, GPUSORT_INTERRUPT_ROWS);
			MemoryContextReset(v->compare_context);
		}
		if (i + VERIFY_AHEAD < nrows)
			prefetch_line(row_at(v, i + VERIFY_AHEAD));
		load_keys(v, now, i);
		*cmp = compare_keys(v, now ^ 1, now);
		if (!neighbours_are_right(v, i, *cmp))
			break;
	}
	MemoryContextSwitchTo(old);
	return i;
}

/* ---------- repairing ---------- */

static bool
is_equal(const GpuSort *sort, uint64 i)
{
	return (RANGE_U64(sort->order.equal)[i / 64] >> (i % 64) & 1) != 0;
}

static void
set_equal(GpuSort *sort, uint64 i, bool equal)
{
	uint64		bit = UINT64CONST(1) << (i % 64);
	uint64	   *word = &RANGE_U64(sort->order.equal)[i / 64];

	*word = equal ? *word | bit : *word & ~bit;
}

static void
reverse(uint32 *ids, uint64 n)
{
	for (uint64 i = 0; i < n / 2; i++)
	{
		uint32		id = ids[i];

		ids[i] = ids[n - 1 - i];
		ids[n - 1 - i] = id;
	}
}

/*
 * Move the equal rows from position `from` up to `end` to position `to` before them.
 * equal: they are equal to the row before that.
 */
static void
move_rows(GpuSort *sort, uint64 from, uint64 end, uint64 to, bool equal)
{
	uint64		n = end - from;

	Assert(sort->reorder.rows == NULL);
	reverse(sort->order.ids + to, from - to);
	reverse(sort->order.ids + from, n);
	reverse(sort->order.ids + to, end - to);
	sort->stats.repaired_rows += n;
	if (!sort->index_rows)
		return;
	for (uint64 i = from - 1; i > to; i--)
		set_equal(sort, i + n, is_equal(sort, i));
	set_equal(sort, to + n, false);
	for (uint64 i = to + 1; i < to + n; i++)
		set_equal(sort, i, true);
	set_equal(sort, to, equal);
}

/* The first position behind the rows that are equal to the one at i, which is loaded. */
static uint64
end_of_equals(Verifier *v, uint64 i, uint64 nrows)
{
	uint64		end = i + 1;

	while (end < nrows)
	{
		if (end % GPUSORT_INTERRUPT_ROWS == 0)
			CHECK_FOR_INTERRUPTS();
		load_keys(v, ~i & 1, end);
		if (compare_keys(v, i & 1, ~i & 1) != 0 || !neighbours_are_right(v, end, 0))
			break;
		end++;
	}
	return end;
}

/*
 * Among the rows before position i, which are in order: where the row at i belongs,
 * behind the last one that is not greater.  It is loaded, and the one before it is
 * greater.  *cmp is how the row before that place compares.
 */
static uint64
find_place(Verifier *v, uint64 i, int *cmp)
{
	uint64		greater = i - 1;	/* this row is */
	uint64		other = 0;		/* so many rows in front are not */
	uint64		step = 1;

	*cmp = -1;
	while (greater > other)
	{
		/* rows are nearly where they belong: ever longer steps, then halves */
		uint64		probe = other == 0 && step <= greater ? greater - step : other + (greater - other) / 2;
		int			result;

		load_keys(v, ~i & 1, probe);
		result = compare_keys(v, ~i & 1, i & 1);
		if (result > 0)
			greater = probe;
		else
		{
			other = probe + 1;
			*cmp = result;
		}
		step *= 2;
	}
	return greater;
}

/*
 * The row at position i, whose keys are loaded, is less than the one before: put it,
 * and those that are equal to it, behind the last row that is not greater.  Returns
 * the position behind them, or 0 if that can't be done.
 */
static uint64
repair_rows(GpuSort *sort, Verifier *v, uint64 i)
{
	MemoryContext old = MemoryContextSwitchTo(v->compare_context);
	uint64		end = end_of_equals(v, i, sort->rows.count);
	int			cmp;
	uint64		to = find_place(v, i, &cmp);

	MemoryContextSwitchTo(old);
	if (end - to > v->moves_left)
		return 0;
	v->moves_left -= end - to;
	move_rows(sort, i, end, to, to > 0 && cmp == 0);
	return to == 0 || neighbours_are_right(v, to, cmp) ? end : 0;
}

/*
 * Check the rows from position `from` up to `to`, and behind rows that were moved the
 * next one, and put them in their places.  False if the order can't be confirmed.
 */
static bool
check_and_repair(GpuSort *sort, Verifier *v, uint64 from, uint64 to)
{
	int			cmp;

	for (;;)
	{
		uint64		wrong = from < to ? find_wrong(v, from, to, &cmp) : to;

		if (wrong == to)
			return true;
		if (cmp <= 0 || !sort->keys.untrusted)
			return false;
		from = repair_rows(sort, v, wrong);
		if (from == 0)
			return false;
		to = Max(to, Min(from + 1, sort->rows.count));
	}
}

/* ---------- several processes ---------- */

void
gpusort_verify_with(GpuSort *sort, const GpuSortVerifyCrew *crew)
{
	sort->crew = crew;
}

static void
init_work(GpuSortVerifyWork *work, uint64 nrows)
{
	work->nrows = nrows;
	work->stretch = Min(MAX_STRETCH, nrows / MIN_STRETCHES + 1);
	pg_atomic_init_u64(&work->next, 1);
	pg_atomic_init_u64(&work->checked, 1);
	pg_atomic_init_u32(&work->nwrong, 0);
}

/* Take stretches until there are none left. */
static void
work_off(GpuSortVerifyWork *work, Verifier *v)
{
	for (;;)
	{
		uint64		from = pg_atomic_read_u64(&work->next);
		uint64		to;
		uint64		at;
		int			cmp;

		/* nobody adds more than once behind the end */
		if (from < work->nrows)
			from = pg_atomic_fetch_add_u64(&work->next, work->stretch);
		if (from >= work->nrows)
			return;
		to = Min(from + work->stretch, work->nrows);
		for (at = from; at < to && (at = find_wrong(v, at, to, &cmp)) < to; at++)
		{
			uint32		n = pg_atomic_fetch_add_u32(&work->nwrong, 1);

			if (n < GPUSORT_VERIFY_WRONG)
				work->wrong[n] = at;
		}
		pg_atomic_fetch_add_u64(&work->checked, to - from);
	}
}

void
gpusort_verify_help(GpuSortVerifyWork *work, const GpuSortView *view, TupleDesc desc,
					const GpuSortSpec *spec)
{
	Verifier	verifier;

	begin_verifier(&verifier, desc, spec);
	verifier.view = *view;
	work_off(work, &verifier);
}

bool
gpusort_verify_is_done(GpuSortVerifyWork *work)
{
	return pg_atomic_read_u64(&work->checked) >= work->nrows;
}

static int
compare_positions(const void *a, const void *b)
{
	uint64		x = *(const uint64 *) a;
	uint64		y = *(const uint64 *) b;

	return (x > y) - (x < y);
}

/* Have the crew find what is wrong, and repair it. */
static bool
check_with_crew(GpuSort *sort, Verifier *v)
{
	GpuSortVerifyWork *work = sort->crew->work;
	uint32		nwrong;
	bool		right = true;

	work_off(work, v);
	sort->crew->await(sort->crew->arg);
	nwrong = pg_atomic_read_u32(&work->nwrong);
	if (nwrong > GPUSORT_VERIFY_WRONG)
		return check_and_repair(sort, v, 1, sort->rows.count);
	qsort(work->wrong, nwrong, sizeof(uint64), compare_positions);
	for (uint32 i = 0; i < nwrong && right; i++)
		right = check_and_repair(sort, v, work->wrong[i], work->wrong[i] + 1);
	return right;
}

/* ---------- a sort ---------- */

bool
gpusort_must_verify(const GpuSort *sort)
{
	return (gpusort_verify || sort->keys.untrusted) && sort->rows.count >= 2;
}

static bool
check_order(GpuSort *sort)
{
	Verifier	verifier;
	bool		right;

	begin_own_verifier(&verifier, sort);
	if (sort->crew != NULL)
		init_work(sort->crew->work, sort->rows.count);
	right = sort->crew != NULL && sort->crew->summon(sort->crew->arg)
		? check_with_crew(sort, &verifier)
		: check_and_repair(sort, &verifier, 1, sort->rows.count);
	for (int i = 0; i < 2 && verifier.slots[i] != NULL; i++)
		ExecClearTuple(verifier.slots[i]);
	return right;
}

bool
gpusort_order_is_right(GpuSort *sort)
{
	MemoryContext context;
	MemoryContext old;
	bool		right;
	instr_time	start;
	gs_progress outer;

	if (!gpusort_must_verify(sort))
		return true;

	INSTR_TIME_SET_CURRENT(start);
	context = AllocSetContextCreate(sort->context, "gpusort verifier", ALLOCSET_SMALL_SIZES);
	old = MemoryContextSwitchTo(context);
	outer = gpusort_enter_verification(sort);
	right = check_order(sort) && gpusort_inject_fault != GPUSORT_FAULT_VERIFY;
	gs_progress_leave(sort->progress, &outer);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);

	sort->stats.verified = true;
	sort->stats.verify_time = gpusort_elapsed(start);

	/* an untrusted library is known to do that; anything else is our mistake */
	if (!right && !sort->keys.untrusted && gpusort_inject_fault != GPUSORT_FAULT_VERIFY)
		ereport(WARNING,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("gpusort found its own result out of order and sorts it again with PostgreSQL's comparison"),
				 errdetail("Sort key: %s.", gpusort_describe_key(sort)),
				 errhint("Please report this; \"gpusort.enabled\" switches gpusort off.")));
	return right;
}
