/*
 * sort_refine.c
 *		Ordering all rows that tie on what the engine has sorted by; see order_private.h.
 *
 * One process goes through the order and refines one run of ties after the other (key_refine.c).
 * Where a team waits for the order, all its processes do, by the same code: the order is cut into
 * stretches between two runs, which are dealt out (team_stretches.c).
 *
 * Each process has a part of the workspace as scratch memory, which is too small for a run of more
 * rows than the same part of all rows.  So the process that has the sort breaks up such heavy runs
 * before: it has the team sort the run by a word, with all of the workspace, and what the run falls
 * into is another stretch, which begins at another place of the key.  But if the run's keys are
 * kept, only this process has them, and it puts the run in order at once.
 */
#include "postgres.h"

#include "port/pg_bitutils.h"

#include "sort/memory_private.h"
#include "sort/order_private.h"
#include "sort/refine_private.h"
#include "sort/state_private.h"
#include "sort/team_private.h"

/*
 * How many stretches there are for each process of a team, so that all processes end at about the
 * same time, and how short stretches may be.
 */
#define PIECES_EACH		16
#ifndef MIN_STRETCH_ROWS
#define MIN_STRETCH_ROWS	512
#endif

/* How many stretches a list has room for at first. */
#define MIN_LIST		64

static void
refine_stretch(GpuSort *sort, const TeamStretch *stretch)
{
	gpusort_refine_stretch(sort, stretch->from, stretch->to, stretch->place);
}

/* ---------- by several processes ---------- */

/* Stretches of an order, in memory of the process that has the sort. */
typedef struct Stretches
{
	TeamStretch *list;
	uint32		count;
	uint32		size;
	size_t		scratch_bytes;	/* scratch memory of each process */
} Stretches;

static Stretches
begin_stretches(size_t scratch_bytes)
{
	return (Stretches) {
		.list = palloc(MIN_LIST * sizeof(TeamStretch)),.size = MIN_LIST,
		.scratch_bytes = scratch_bytes
	};
}

/* Appends a stretch to a list, unless it is empty. */
static void
add_stretch(Stretches *stretches, uint64 from, uint64 to, KeyPlace place)
{
	if (from >= to)
		return;
	if (stretches->count == stretches->size)
	{
		stretches->size *= 2;
		stretches->list = repalloc_huge(stretches->list, stretches->size * sizeof(TeamStretch));
	}
	stretches->list[stretches->count++] = (TeamStretch) {from, to, place};
}

/*
 * Breaks up a heavy run, and adds what it has fallen into to `unbroken`, the stretches in which
 * there may be more of them.
 */
static void
break_heavy_run(GpuSort *sort, TiedRun run, Stretches *unbroken)
{
	uint64		first;

	if (!gpusort_break_run(sort, &run))
		return;
	first = run.ids - sort->order.ids;
	add_stretch(unbroken, first, first + run.n, run.place);
}

/*
 * Breaks up the heavy runs of a stretch.  What lies between them is added to `stretches`, and what
 * they have fallen into to `unbroken`, the stretches in which there may be more of them.
 */
static void
break_heavy_runs(GpuSort *sort, TeamStretch stretch, Stretches *stretches, Stretches *unbroken)
{
	const uint64 *equal = RANGE_U64(sort->order.equal);

	for (uint64 w = stretch.from / 64; w * 64 < stretch.to; w++)
	{
		uint64		start = w * 64;
		uint64		end;

		/* a heavy run has more than SMALL_RUN rows, so some words of its bits are all ones */
		if (equal[w] != PG_UINT64_MAX || start < stretch.from)
			continue;
		while ((equal[start / 64] >> (start % 64) & 1) != 0)
			start--;
		end = gpusort_end_of_run(sort, start);
		if (end - start > SMALL_RUN &&
			gs_sort_workspace_bytes(end - start) > stretches->scratch_bytes)
		{
			TiedRun		run = {sort->order.ids + start, (uint32) (end - start), stretch.place};

			add_stretch(stretches, stretch.from, start, stretch.place);
			break_heavy_run(sort, run, unbroken);
			stretch.from = end;
		}
		w = end / 64 - 1;
	}
	add_stretch(stretches, stretch.from, stretch.to, stretch.place);
}

/* Cuts stretches into pieces of about this many rows.  No run is cut. */
static void
cut_stretches(const GpuSort *sort, Stretches *stretches, uint64 piece)
{
	Stretches	cut = begin_stretches(stretches->scratch_bytes);

	for (uint32 i = 0; i < stretches->count; i++)
	{
		TeamStretch s = stretches->list[i];

		while (s.to - s.from > piece)
		{
			uint64		end = gpusort_end_of_run(sort, s.from + piece - 1);

			add_stretch(&cut, s.from, Min(end, s.to), s.place);
			s.from = Min(end, s.to);
		}
		add_stretch(&cut, s.from, s.to, s.place);
	}
	pfree(stretches->list);
	*stretches = cut;
}

/* Puts the runs in order that other processes of the team have left to this one. */
static void
refine_left(GpuSort *sort, TeamStretches *job)
{
	uint32		count = gpusort_team_runs_left(job);

	for (uint32 i = 0; i < count; i++)
	{
		const TeamStretch *left = &job->left[i];
		uint32		n = (uint32) (left->to - left->from);

		gpusort_refine_run(sort, (TiedRun) {sort->order.ids + left->from, n, left->place});
	}
}

/* Deals the stretches out to the team, and refines a share of them in this process. */
static void
deal_out(GpuSort *sort, Stretches *stretches)
{
	TeamStretches *job = gpusort_deal_out(sort, TEAM_JOB_REFINE, stretches->list, stretches->count);
	TeamStretch stretch;

	if (job == NULL)
	{
		for (uint32 i = 0; i < stretches->count; i++)
			refine_stretch(sort, &stretches->list[i]);
		return;
	}
	sort->order.scratch_bytes = stretches->scratch_bytes;
	while (gpusort_take_stretch(job, &stretch))
		refine_stretch(sort, &stretch);
	gpusort_await_stretches(sort);
	refine_left(sort, job);
	sort->stats.memory_bytes += pg_atomic_read_u64(&job->memory_bytes);
	gpusort_team_withdraw(sort);
}

/*
 * Refines the whole order together with a team: breaks up heavy runs, cuts stretches, and deals
 * them out.
 */
static void
refine_with_team(GpuSort *sort, TeamStretch whole)
{
	uint64		piece = sort->rows.count / (sort->team.participants * PIECES_EACH);
	Stretches	stretches = begin_stretches(gpusort_scratch_bytes(sort));
	Stretches	unbroken = begin_stretches(0);

	add_stretch(&unbroken, whole.from, whole.to, whole.place);
	while (unbroken.count > 0)
		break_heavy_runs(sort, unbroken.list[--unbroken.count], &stretches, &unbroken);
	cut_stretches(sort, &stretches, Max(piece, MIN_STRETCH_ROWS));
	if (stretches.count > 0)
		deal_out(sort, &stretches);
	pfree(unbroken.list);
	pfree(stretches.list);
}

void
gpusort_refine_stretches(GpuSort *sort, TeamStretches *job)
{
	TeamStretch stretch;

	if (!gpusort_take_scratch(sort, job))
		return;
	gpusort_begin_made_keys(sort);
	sort->team.stretches = job;
	while (gpusort_take_stretch(job, &stretch))
		refine_stretch(sort, &stretch);
	sort->team.stretches = NULL;
	gpusort_end_made_keys(sort);
	pg_atomic_fetch_add_u64(&job->memory_bytes, sort->stats.memory_bytes);
}

/* ---------- by the process that has the sort ---------- */

/* Returns how many rows tie on what the engine has sorted by. */
static uint64
count_tied(const GpuSort *sort)
{
	const uint64 *equal = RANGE_U64(sort->order.equal);
	uint64		nwords = (sort->rows.count + 63) / 64;
	uint64		count = 0;

	for (uint64 w = 0; w < nwords; w++)
	{
		uint64		next = w + 1 < nwords ? equal[w + 1] << 63 : 0;

		/* a run's first row has no bit of its own */
		count += pg_popcount64(equal[w]) + pg_popcount64(~equal[w] & (equal[w] >> 1 | next));
	}
	return count;
}

void
gpusort_refine(GpuSort *sort)
{
	TeamStretch whole = {0, sort->rows.count, gpusort_first_place(sort)};
	uint64		tied = count_tied(sort);
	bool		by_team = gpusort_may_deal_out(sort, tied);

	sort->stats.refined_rows += tied;
	sort->order.scratch = sort->order.workspace->base;
	sort->order.scratch_bytes = sort->order.workspace->usable;
	gpusort_begin_made_keys(sort);
	if (by_team)
		refine_with_team(sort, whole);
	else
		refine_stretch(sort, &whole);
	gpusort_end_made_keys(sort);
}
