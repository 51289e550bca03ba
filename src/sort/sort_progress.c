/*
 * sort_progress.c
 *		Showing the steps of a sort as progress; see state_private.h.
 */
#include "postgres.h"

#include "port/pg_bitutils.h"

#include "sort/state_private.h"
#include "stats/stats.h"

/*
 * Nanoseconds that a row takes, of 10^6 to 10^7 rows on one core.  Only the ratios of these matter.
 * The engine's is that of the host; gpusortd is faster, so its stage passes sooner.
 */
#define ENGINE_COST		25.0
#define VERIFY_COST		200.0

/*
 * The same for collecting a row, the scan of its table included, and for returning it to what looks
 * at one column.  (EXPLAIN ANALYZE of 500,000 rows of 130 bytes: collecting takes four times as
 * long as the engine by int8, and five to seven times by text; returning 1.8 times; verifying by
 * libc 7 times, by ICU 5 to 8 times.)
 */
#define COLLECT_COST	100.0
#define RETURN_COST		45.0

/* Nanoseconds that a byte of pool memory takes which nobody has touched (range_extents.c). */
#define FRESH_COST		0.3

/* How many words a tied row is expected to be ordered by. */
#define TIED_WORDS		3.0

/*
 * The part of the rows that is expected to tie, before the engine tells.  If keys have many ties,
 * this makes the engine's part of the progress too large, and if they have none, too small.
 */
#define TIED_PART		0.125

static double
refinement_work(const GpuSort *sort, double tied_rows)
{
	if (!needs_refinement(sort))
		return 0;
	return sort->rows.count * GPUSORT_SWEEP_COST + tied_rows * TIED_WORDS * GPUSORT_TIED_COST;
}

static double
verification_work(const GpuSort *sort)
{
	if (!needs_verification(sort))
		return 0;
	return sort->rows.count * VERIFY_COST;
}

/* Returns how many rows tie with the row before them on the engine's planes. */
static double
count_tied(const GpuSort *sort)
{
	return (double) pg_popcount((const char *) sort->order.equal->base,
								(int) ((sort->rows.count + 63) / 64 * sizeof(uint64)));
}

/* Enters a stage of so much work, after which `rest` will be left. */
static gs_progress
enter(GpuSort *sort, double work, double rest)
{
	gs_progress_plan(sort->progress, work + rest);
	return gs_progress_enter(sort->progress, work);
}

gs_progress
gpusort_enter_growth(GpuSort *sort, size_t bytes, size_t fresh_bytes)
{
	gs_progress outer = enter(sort, fresh_bytes * FRESH_COST, sort->rows.count * ENGINE_COST);

	gs_progress_plan(sort->progress, bytes);
	return outer;
}

gs_progress
gpusort_enter_engine(GpuSort *sort)
{
	return enter(sort, sort->rows.count * ENGINE_COST,
				 refinement_work(sort, sort->rows.count * TIED_PART) + verification_work(sort));
}

gs_progress
gpusort_enter_refinement(GpuSort *sort)
{
	double		tied_rows = sort->progress != NULL ? count_tied(sort) : 0;
	double		work = refinement_work(sort, tied_rows);
	gs_progress outer = enter(sort, work, verification_work(sort));

	gs_progress_plan(sort->progress, work);
	return outer;
}

gs_progress
gpusort_enter_verification(GpuSort *sort)
{
	gs_progress outer = enter(sort, verification_work(sort), 0);

	gs_progress_plan(sort->progress, sort->rows.count);
	return outer;
}

/* ---------- what others see of a sort while it runs, and its trace ---------- */

/* Traces the phase that ends now. */
static void
trace_phase(GpuSort *sort)
{
	instr_time	now;

	if (!sort->shown.is_traced)
		return;
	INSTR_TIME_SET_CURRENT(now);
	gpusort_trace_event(gpusort_phase_name(sort->shown.phase, sort->spec.kind),
						gpusort_kind_name(sort->spec.kind),
						sort->shown.phase_start, now, sort->stats.rows);
	sort->shown.phase_start = now;
}

/*
 * Estimates which part of the whole is what.  That strings tie, and how many, is not known before
 * the rows are there.
 */
static void
plan_whole(GpuSort *sort)
{
	double		order = ENGINE_COST;
	double		whole;

	if (sort->keys.any_bytes)
		order += GPUSORT_SWEEP_COST + TIED_PART * TIED_WORDS * GPUSORT_TIED_COST;
	if (gpusort_verify || sort->keys.untrusted)
		order += VERIFY_COST;
	whole = COLLECT_COST + order + RETURN_COST;
	sort->shown.collected = COLLECT_COST / whole * GPUSORT_ACTIVITY_WHOLE;
	sort->shown.ordered = (COLLECT_COST + order) / whole * GPUSORT_ACTIVITY_WHOLE;
}

void
gpusort_show_order_begin(GpuSort *sort)
{
	GpuSortShown *shown = &sort->shown;

	if (shown->activity == NULL || sort->tuplesort != NULL)
		return;
	gpusort_raise_activity(shown->activity, shown->collected);
	if (sort->progress == NULL)
	{
		gs_progress_begin(&shown->progress, &shown->word, GPUSORT_ACTIVITY_WHOLE);
		sort->progress = &shown->progress;
	}
	gs_progress_follow(sort->progress, &shown->activity->done, (int64) shown->ordered);
}

void
gpusort_show_order_end(GpuSort *sort)
{
	gpusort_raise_activity(sort->shown.activity, sort->shown.ordered);
	if (sort->progress == &sort->shown.progress)
		sort->progress = NULL;
}

void
gpusort_show_returned(GpuSort *sort, uint64 rows)
{
	double		all = (double) (gpusort_has_runs(sort) ? sort->stats.rows : sort->rows.count);
	double		part = GPUSORT_ACTIVITY_WHOLE - sort->shown.ordered;

	gpusort_raise_activity(sort->shown.activity,
						   sort->shown.ordered + part * Min(rows / Max(all, 1), 1));
}

/*
 * The part that the leader collects is shown by the entry of the sort which it is a part of: that
 * has nothing to show itself as yet.
 */
void
gpusort_show_begin(GpuSort *sort)
{
	gpusort_show_end(sort);
	plan_whole(sort);
	sort->shown.phase = sort->tuplesort != NULL ? GPUSORT_PHASE_CORE : GPUSORT_PHASE_COLLECT;
	sort->shown.is_traced = gpusort_trace_begin();
	if (sort->shown.is_traced)
		INSTR_TIME_SET_CURRENT(sort->shown.phase_start);
	if (sort->parts.is_part)
		sort->shown.activity = gpusort_find_activity(sort->memory.pool_account.owner);
	sort->shown.is_borrowed = sort->shown.activity != NULL;
	if (!sort->shown.is_borrowed)
		sort->shown.activity = gpusort_begin_activity(sort->spec.kind, sort->spec.expected_rows);
	gpusort_enter_phase(sort->shown.activity, sort->shown.phase);
}

void
gpusort_show_end(GpuSort *sort)
{
	trace_phase(sort);
	sort->shown.is_traced = false;
	if (!sort->shown.is_borrowed)
		gpusort_end_activity(sort->shown.activity);
	sort->shown.activity = NULL;
	sort->shown.is_borrowed = false;
}

GpuSortPhase
gpusort_show_enter(GpuSort *sort, GpuSortPhase phase)
{
	GpuSortPhase before = sort->shown.phase;

	if (phase != before)
		trace_phase(sort);
	sort->shown.phase = phase;
	gpusort_show_memory(sort);
	gpusort_enter_phase(sort->shown.activity, phase);
	return before;
}

void
gpusort_show_memory(GpuSort *sort)
{
	GpuSortActivity *activity = sort->shown.activity;

	if (activity == NULL)
		return;
	gpusort_show_rows(sort);
	activity->pool_bytes = (int64) pg_atomic_read_u32(sort->memory.pool_account.extents) *
		GSD_EXTENT_BYTES;
	activity->spilled_bytes = (int64) sort->stats.spilled_bytes;
}
