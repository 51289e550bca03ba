/*
 * sort_verify.c
 *		One pass of the operator class's own comparison over neighbouring rows.
 *
 * A comparison that is a total order has sorted the whole if it has sorted all
 * neighbours, so n - 1 comparisons prove what took n log n to make.  Done for
 * codecs that rest on a library's word (keys of libc's and of ICU's collations need not
 * order as their comparisons do), and for every sort with gpusort.verify.  Where a codec can
 * prove the order of two values, from the stored values themselves, in less time than the
 * comparison takes, that counts as one.  A row before which another one
 * belongs is not the end of it (sort_repair.c).
 *
 * In an index build the equal bitmap is checked too, since uniqueness is judged
 * by it, and the TIDs of equal rows.  There workers help (sort_verify.h): each takes
 * stretches of the order and notes which rows are not in the right relation to the one
 * before.  Then one process looks at these only.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "elapsed.h"
#include "sort/sort_progress.h"
#include "sort/sort_repair.h"
#include "sort/sort_state.h"
#include "sort/sort_verify.h"
#include "sort/sort_watch.h"
#include "sort/verifier.h"

/* Rows of a stretch, and stretches of small sorts. */
#define MAX_STRETCH		((uint64) 1 << 16)
#define MIN_STRETCHES	64

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
work_off(GpuSortVerifyWork *work, GpuSortVerifier *v)
{
	for (;;)
	{
		uint64		from = pg_atomic_read_u64(&work->next);
		uint64		to;
		uint64		at;
		int			cmp;

		/* no process adds more than once behind the end */
		if (from < work->nrows)
			from = pg_atomic_fetch_add_u64(&work->next, work->stretch);
		if (from >= work->nrows)
			return;
		to = Min(from + work->stretch, work->nrows);
		for (at = from; at < to && (at = gpusort_verifier_find_wrong(v, at, to, &cmp)) < to; at++)
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
	GpuSortVerifier	verifier;

	gpusort_begin_verifier(&verifier, desc, spec);
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
check_with_crew(GpuSort *sort, GpuSortVerifier *v)
{
	GpuSortVerifyWork *work = sort->crew->work;
	uint32		nwrong;
	bool		right = true;

	work_off(work, v);
	sort->crew->await(sort->crew->arg);
	nwrong = pg_atomic_read_u32(&work->nwrong);
	if (nwrong > GPUSORT_VERIFY_WRONG)
		return gpusort_check_and_repair(sort, v, 1, sort->rows.count);
	qsort(work->wrong, nwrong, sizeof(uint64), compare_positions);
	for (uint32 i = 0; i < nwrong && right; i++)
		right = gpusort_check_and_repair(sort, v, work->wrong[i], work->wrong[i] + 1);
	return right;
}

static bool
check_order(GpuSort *sort)
{
	GpuSortVerifier	verifier;
	bool		right;

	gpusort_begin_own_verifier(&verifier, sort);
	if (sort->crew != NULL)
		init_work(sort->crew->work, sort->rows.count);
	right = sort->crew != NULL && sort->crew->summon(sort->crew->arg)
		? check_with_crew(sort, &verifier)
		: gpusort_check_and_repair(sort, &verifier, 1, sort->rows.count);
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
	GpuSortPhase outer_phase;

	if (!needs_verification(sort))
		return true;

	outer_phase = gpusort_watch_enter(sort, GPUSORT_PHASE_VERIFY);
	INSTR_TIME_SET_CURRENT(start);
	context = AllocSetContextCreate(sort->context, "gpusort verifier", ALLOCSET_SMALL_SIZES);
	old = MemoryContextSwitchTo(context);
	outer = gpusort_enter_verification(sort);
	right = check_order(sort) && gpusort_inject_fault != GPUSORT_FAULT_VERIFY;
	gs_progress_leave(sort->progress, &outer);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);

	sort->stats.verified = true;
	gpusort_add_elapsed(&sort->stats.verify_time, start);
	(void) gpusort_watch_enter(sort, outer_phase);

	/* an untrusted library is known to do that; anything else is our mistake */
	if (!right && !sort->keys.untrusted && gpusort_inject_fault != GPUSORT_FAULT_VERIFY)
		ereport(WARNING,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("gpusort found its own result out of order and sorts it again with PostgreSQL's comparison"),
				 errdetail("Sort key: %s.", gpusort_describe_columns(&sort->keys)),
				 errhint("Please report this; \"gpusort.enabled\" switches gpusort off.")));
	return right;
}
