/*
 * shared_sort.c
 *		One sort by all participants of a Gather.
 *
 * Every participant reads its child, a partial plan, into its part of one sort in the pool
 * (sort_parts.h).  Then the barrier elects one of them, which joins the parts, sorts them with the
 * help of the others (sort/sort.h), and publishes the result, which all participants map and read
 * (sort_result.h).
 *
 * The participants meet at a barrier (GpuSortSharedPhase), which each attaches to when it first
 * reads the node:
 *
 *	- A participant that comes while others collect, collects too.  When all that have come
 *	  have read their children to the end, one sorts, and the others help it.
 *	- A participant that comes later helps until the sort is done, or finds it done, and only
 *	  reads.
 *	- A participant returns no row while others wait for it, so that it never waits for room
 *	  in its queue to the Gather; and no participant waits after it has returned its first
 *	  row.
 *	- A participant that never reads the node is not waited for, such as a worker that could
 *	  not be started, or a leader that does not take part.
 *	- A participant that raises an error makes the query fail, which ends all waits.
 *
 * Rows that a part refuses (no room, no encoding) are passed to the participant that sorts
 * (sort_result.h), which puts them into the joined sort, behind all other rows.  From then on they
 * are treated as any sort's rows: they take private memory if need be, and the sort may be handed
 * over to tuplesort.
 *
 * Where the query turns out not to run in parallel (cursors, Execute with a row limit, no dynamic
 * shared memory), the leader sorts by itself, as a GpuSort node does.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/wait_event.h"

#include "elapsed.h"
#include "exec/exec.h"
#include "exec/shared_private.h"
#include "pg_compat.h"
#include "pg_compat/executor.h"
#include "sort/sort.h"
#include "sort/sort_input.h"
#include "sort/sort_parts.h"
#include "team/worker_wait.h"
#include "team/workers.h"

/* The wait event of a process that waits here. */
static uint32 wait_event = 0;

/* ---------- collecting and sorting ---------- */

/* Passes a row on that this participant's part has refused. */
static void
pass_refused(GpuSortSharedState *node, TupleTableSlot *row)
{
	bool		should_free;
	MinimalTuple tuple = ExecFetchSlotMinimalTuple(row, &should_free);

	gpusort_pass_row(&node->refused, tuple);
	if (should_free)
		pfree(tuple);
}

/* Puts the rows that parts have refused into the joined sort. */
static void
put_refused(GpuSortSharedState *node, TupleDesc desc, GpuSort *sort)
{
	TupleTableSlot *slot = gpusort_make_slot(desc, &TTSOpsMinimalTuple);

	for (int i = 0; i < node->shared->participants; i++)
	{
		GpuSortRowPlace place = gpusort_place_of_refused(node, i);
		GpuSortRowReader reader;
		MinimalTuple tuple;

		gpusort_passed_open(&reader, &place);
		while ((tuple = gpusort_passed_next(&reader)) != NULL)
		{
			CHECK_FOR_INTERRUPTS();
			ExecStoreMinimalTuple(tuple, slot, false);
			gpusort_put_slot(sort, slot);
		}
		gpusort_passed_close(&reader);
		gpusort_passed_free(place.rows, place.area);
	}
	ExecClearTuple(slot);
}

/* Reads the child into this participant's part. */
static void
collect(GpuSortSharedState *node)
{
	GpuSortCollectCounts *counts = &node->shared->counts[ParallelWorkerNumber + 1];
	GpuSortInput input = {
		.child = outerPlanState(node), .is_part = true, .projections = node->projections
	};
	MemoryContext context = AllocSetContextCreate(gpusort_shared_context(node), "GpuSort Shared part",
												  ALLOCSET_DEFAULT_SIZES);
	TupleTableSlot *refused;

	if (node->parts != NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(context);

		input.sort = gpusort_parts_begin_part(node->parts, ExecGetResultType(input.child),
											  &node->spec);
		MemoryContextSwitchTo(old);
		if (node->pcxt != NULL)
			gpusort_parts_launched(node->parts, node->pcxt->nworkers_launched + 1);
	}
	gpusort_worker_fault("a part of a sort");
	while ((refused = gpusort_drain_input(&input)) != NULL)
	{
		pass_refused(node, refused);
		counts->refused++;
	}
	gpusort_pass_end(&node->refused);
	if (input.sort != NULL)
	{
		gpusort_parts_finish_part(node->parts, input.sort);
		gpusort_end(input.sort);
	}
	MemoryContextDelete(context);
	counts->taken = input.taken;
	counts->from_pages = input.from_pages;
	counts->took_part = true;
}

/* Returns a sort that has the rows of all participants, which have collected. */
static GpuSort *
join_parts(GpuSortSharedState *node)
{
	MemoryContext old = MemoryContextSwitchTo(gpusort_shared_context(node));
	TupleDesc	desc = ExecGetResultType(outerPlanState(node));
	GpuSort    *sort;

	if (node->parts != NULL)
	{
		sort = gpusort_parts_begin_joined(node->parts, desc, &node->spec);
		gpusort_parts_join(node->parts, sort);
		gpusort_use_team(sort, node->team, node->shared->participants);
		if (node->slice_columns > 0)
			gpusort_divide(sort, node->slice_columns, 0);
	}
	else
		sort = gpusort_begin(desc, &node->spec, false);
	put_refused(node, desc, sort);
	MemoryContextSwitchTo(old);
	return sort;
}

/*
 * Lets all participants have the result of a sort that was performed.  Until the result is
 * published, the other participants may have to help once more: with portions that are read back,
 * or with work that gpusortd has not finished.
 */
static void
publish(GpuSortSharedState *node, GpuSort *sort, instr_time collect_time)
{
	MemoryContext old = MemoryContextSwitchTo(gpusort_shared_context(node));
	GpuSortReport *report = &node->shared->report;
	bool		is_kept;

	gpusort_note_sort(sort, collect_time, (instr_time) {0});
	is_kept = gpusort_result_publish(&node->result, sort, node->shared->participants);
	gpusort_make_report(sort, collect_time, report);
	report->stats.portions = gpusort_portions_planned(sort);
	if (!is_kept)
		gpusort_end(sort);
	gpusort_team_dismiss(node->team);
	if (is_kept)
		gpusort_use_team(sort, NULL, 0);
	MemoryContextSwitchTo(old);
}

static void
perform(GpuSortSharedState *node, GpuSort *sort)
{
	MemoryContext old = MemoryContextSwitchTo(gpusort_shared_context(node));

	gpusort_perform(sort);
	MemoryContextSwitchTo(old);
}

/* Sorts the rows of all participants, which have collected, and publishes the result. */
static void
sort_parts(GpuSortSharedState *node, instr_time collect_time)
{
	GpuSort    *sort = join_parts(node);

	perform(node, sort);
	publish(node, sort, collect_time);
}

/* Sorts with the other participants.  The result is published when this returns. */
static void
take_part(GpuSortSharedState *node, instr_time start)
{
	Barrier    *barrier = &node->shared->barrier;
	int			phase = BarrierAttach(barrier);

	if (phase == GPUSORT_PHASE_COLLECTING)
	{
		collect(node);
		if (gpusort_worker_arrive(barrier, gpusort_wait_event(&wait_event, "GpuSortShared")))
			sort_parts(node, gpusort_elapsed(start));
		phase = GPUSORT_PHASE_SORTING;
	}
	if (phase == GPUSORT_PHASE_SORTING)
	{
		gpusort_team_help(node->team);
		gpusort_worker_arrive(barrier, gpusort_wait_event(&wait_event, "GpuSortShared"));
	}
	BarrierDetach(barrier);
}

/* Collects and sorts all rows in this process, where there is no parallel query. */
static void
sort_alone(GpuSortSharedState *node, instr_time start)
{
	PlanState  *child = outerPlanState(node);
	MemoryContext old = MemoryContextSwitchTo(gpusort_shared_context(node));
	GpuSort    *sort = gpusort_begin(ExecGetResultType(child), &node->spec,
									 node->random_access);
	GpuSortInput input = {.child = child, .sort = sort, .projections = node->projections};
	instr_time	collect_time;

	MemoryContextSwitchTo(old);
	if (node->tells_equal)
		gpusort_tell_equal(sort);
	gpusort_drain_input(&input);
	collect_time = gpusort_elapsed(start);
	gpusort_perform(sort);
	gpusort_note_sort(sort, collect_time, (instr_time) {0});
	gpusort_make_report(sort, collect_time, &node->report);
	gpusort_shared_keep_counts(node, &(GpuSortCollectCounts) {.taken = input.taken,
				.from_pages = input.from_pages,
				.took_part = true}, 1);
	gpusort_result_open(&node->result, sort);
}

/* Sorts with the other participants of a parallel query, and finds the result. */
static void
sort_together(GpuSortSharedState *node, instr_time start)
{
	MemoryContext old;

	take_part(node, start);
	old = MemoryContextSwitchTo(gpusort_shared_context(node));
	gpusort_result_find(&node->result);
	MemoryContextSwitchTo(old);
}

/* ---------- for the node ---------- */

void
gpusort_shared_make_result(PlanState *ps)
{
	GpuSortSharedState *node = (GpuSortSharedState *) ps;
	EState	   *estate = ps->state;
	ScanDirection direction = estate->es_direction;
	instr_time	start;

	/* the child is always read forward, whatever the direction of the scan */
	estate->es_direction = ForwardScanDirection;
	INSTR_TIME_SET_CURRENT(start);
	node->child_read = true;
	if (node->shared == NULL)
		sort_alone(node, start);
	else
		sort_together(node, start);
	estate->es_direction = direction;
	node->ready = true;
}

/* ---------- for a node above ---------- */

bool
gpusort_shared_is_parallel(const PlanState *ps)
{
	return ((const GpuSortSharedState *) ps)->shared != NULL;
}

void
gpusort_shared_collect(PlanState *ps)
{
	GpuSortSharedState *node = (GpuSortSharedState *) ps;
	instr_time	start;

	INSTR_TIME_SET_CURRENT(start);
	node->child_read = true;
	collect(node);
	gpusort_add_elapsed(&node->collect_time, start);
}

uint64
gpusort_shared_collected(const PlanState *ps)
{
	const GpuSortShared *shared = ((const GpuSortSharedState *) ps)->shared;
	uint64		rows = 0;

	for (int i = 0; i < shared->participants; i++)
		rows += shared->counts[i].taken + shared->counts[i].refused;
	return rows;
}

void
gpusort_shared_sort(PlanState *ps)
{
	GpuSortSharedState *node = (GpuSortSharedState *) ps;

	sort_parts(node, node->collect_time);
}

void
gpusort_shared_sort_both(PlanState *const nodes[2])
{
	GpuSortSharedState *both[2];
	GpuSort    *sorts[2];
	bool		merged;

	for (int i = 0; i < 2; i++)
	{
		both[i] = (GpuSortSharedState *) nodes[i];
		sorts[i] = join_parts(both[i]);
	}
	merged = both[0]->result.room != NULL && both[1]->result.room != NULL &&
		gpusort_perform_merged(sorts);
	for (int i = 0; i < 2; i++)
	{
		if (!merged)
			perform(both[i], sorts[i]);
		publish(both[i], sorts[i], both[i]->collect_time);
	}
}

void
gpusort_shared_help(PlanState *ps)
{
	gpusort_team_help(((GpuSortSharedState *) ps)->team);
}

void
gpusort_shared_open(PlanState *ps)
{
	GpuSortSharedState *node = (GpuSortSharedState *) ps;
	MemoryContext old = MemoryContextSwitchTo(gpusort_shared_context(node));

	gpusort_result_find(&node->result);
	MemoryContextSwitchTo(old);
	node->child_read = true;
	node->ready = true;
}
