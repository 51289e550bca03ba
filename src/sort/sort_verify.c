/*
 * sort_verify.c
 *		Verifying the order of a sort: one pass of the operator class's own comparison over
 *		neighbouring rows.
 *
 * If a comparison is a total order, rows of which all neighbours are in order are sorted.  So n - 1
 * comparisons prove what took n log n to make.  This is done for codecs that rest on a library's
 * word (keys of libc's and of ICU's collations need not order as their comparisons do), and for
 * every sort with gpusort.verify.  If a codec can prove the order of two values, from the stored
 * values themselves, in less time than the comparison takes, that counts as a comparison.  A row
 * that belongs before the row in front of it does not make the sort fail: the order is repaired
 * (sort_repair.c).
 *
 * In an index build the bitmap of equal rows is checked, too, since uniqueness is judged by it, and
 * so are the TIDs of equal rows.
 *
 * If a team waits for the order, all of its processes take stretches of the order and note which
 * rows are not in the right relation to the row before.  Then one process looks at these rows only.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "elapsed.h"
#include "sort/order_private.h"
#include "sort/state_private.h"
#include "sort/team_private.h"

/*
 * How many rows a stretch has at most, and how many stretches the order of a small sort is cut
 * into.
 */
#define MAX_STRETCH		((uint64) 1 << 16)
#define MIN_STRETCHES	64

/*
 * Compares the rows of stretches until none is left, and notes the positions of rows that are
 * wrong.
 */
static void
verify_stretches(TeamStretches *job, GpuSortVerifier *v)
{
	TeamStretch stretch;
	int			cmp;

	while (gpusort_take_stretch(job, &stretch))
		for (uint64 at = stretch.from; at < stretch.to; at++)
		{
			at = gpusort_verifier_find_wrong(v, at, stretch.to, &cmp);
			if (at < stretch.to)
				gpusort_note_position(job, at);
		}
}

static void
clear_slots(GpuSortVerifier *v)
{
	for (int i = 0; i < 2 && v->slots[i] != NULL; i++)
		ExecClearTuple(v->slots[i]);
}

void
gpusort_verify_stretches(GpuSort *sort, TeamStretches *job)
{
	GpuSortVerifier verifier;

	gpusort_begin_own_verifier(&verifier, sort);
	verify_stretches(job, &verifier);
	clear_slots(&verifier);
}

static int
compare_positions(const void *a, const void *b)
{
	uint64		x = *(const uint64 *) a;
	uint64		y = *(const uint64 *) b;

	return (x > y) - (x < y);
}

/* Repairs the order at the positions that were noted. */
static bool
repair_noted(GpuSort *sort, GpuSortVerifier *v, TeamStretches *job)
{
	uint32		nwrong = pg_atomic_read_u32(&job->nnoted);
	bool		right = true;

	if (nwrong > TEAM_MAX_NOTED)
		return gpusort_check_and_repair(sort, v, 1, sort->rows.count);
	qsort(job->noted, nwrong, sizeof(uint64), compare_positions);
	for (uint32 i = 0; i < nwrong && right; i++)
		right = gpusort_check_and_repair(sort, v, job->noted[i], job->noted[i] + 1);
	return right;
}

/*
 * Deals the order out to the team.  Returns NULL if the team can't see the sort.  Stretches begin
 * at multiples of 64 rows, so that no word of the bitmap of equal rows, whose bits are set while
 * rows are compared, is in two of them.
 */
static TeamStretches *
deal_out(GpuSort *sort)
{
	uint64		nrows = sort->rows.count;
	uint64		each = TYPEALIGN64(64, Min(MAX_STRETCH, nrows / MIN_STRETCHES + 1));
	uint32		count = (uint32) ((nrows + each - 1) / each);
	TeamStretch *stretches = palloc(count * sizeof(TeamStretch));
	TeamStretches *job;

	for (uint32 i = 0; i < count; i++)
		stretches[i] = (TeamStretch) {.from = Max(i * each, 1),.to = Min((i + 1) * each, nrows)};
	job = gpusort_deal_out(sort, TEAM_JOB_VERIFY, stretches, count);
	pfree(stretches);
	return job;
}

static bool
check_order(GpuSort *sort)
{
	GpuSortVerifier verifier;
	TeamStretches *job = gpusort_may_deal_out(sort, sort->rows.count) ? deal_out(sort) : NULL;
	bool		right;

	gpusort_begin_own_verifier(&verifier, sort);
	if (job == NULL)
		right = gpusort_check_and_repair(sort, &verifier, 1, sort->rows.count);
	else
	{
		verify_stretches(job, &verifier);
		gpusort_await_stretches(sort);
		right = repair_noted(sort, &verifier, job);
		gpusort_team_withdraw(sort);
	}
	clear_slots(&verifier);
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

	outer_phase = gpusort_show_enter(sort, GPUSORT_PHASE_VERIFY);
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
	(void) gpusort_show_enter(sort, outer_phase);

	/* an untrusted library is known to find such orders; with any other codec it is our mistake */
	if (!right && !sort->keys.untrusted && gpusort_inject_fault != GPUSORT_FAULT_VERIFY)
		ereport(WARNING,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("gpusort found its own result out of order and sorts it again with PostgreSQL's comparison"),
				 errdetail("Sort key: %s.", gpusort_describe_columns(&sort->keys)),
				 errhint("Please report this; \"gpusort.enabled\" switches gpusort off.")));
	return right;
}
