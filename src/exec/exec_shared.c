/*
 * exec_shared.c
 *		Executing a GpuSort Shared node: one sort by all participants of a Gather.
 *
 * Every participant reads its child, a partial plan, into its part of one sort in the
 * pool (sort_parts.h).  Then one of them, whichever is elected, joins the parts, sorts
 * them and publishes the result, which all map and read (shared_result.c).
 *
 * They meet at a barrier (GpuSortSharedPhase).  A participant belongs to it from when it
 * first reads the node:
 *
 *	- A participant that comes while others collect, collects too.  When all that have
 *	  come have read their children to the end, one sorts, and the others wait for that.
 *	- A participant that comes later waits for the end of sorting, or finds it done, and
 *	  only reads.
 *	- A participant that others wait for returns no row meanwhile, so that it never waits
 *	  for room in its queue to the Gather; and none waits after its first row.
 *	- A participant that never reads the node is not waited for: workers that could not
 *	  be started, a leader that stands aside.
 *	- A participant that fails fails the query, and all waits end with it.
 *
 * Rows that a part refuses (no room, no encoding) go to temporary files, one for each
 * participant (shared_refused.c), and from there into the joined sort, behind all others,
 * as any sort's rows; with private memory, and tuplesort behind that.
 *
 * All extents belong to a sort of the leader's that has no rows, the owner, whichever
 * participant took them.  It ends with the query's memory, which is when all workers are
 * gone, on error as well, or when the Gather is rescanned; the Gather has waited for its
 * workers then.
 *
 * Where the query turns out not to run in parallel (cursors, Execute with a row limit, no
 * dynamic shared memory), the leader sorts by itself, as a GpuSort does.
 *
 * A rescan reaches the leader's node after the shared memory has been set up again,
 * which forgets the last result.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "storage/barrier.h"
#include "storage/dsm.h"
#include "storage/sharedfileset.h"
#include "utils/memutils.h"
#include "utils/wait_event.h"

#include "elapsed.h"
#include "exec/exec_node.h"
#include "exec/exec_shared.h"
#include "exec/explain_counts.h"
#include "exec/explain_key.h"
#include "exec/explain_report.h"
#include "exec/shared_refused.h"
#include "exec/shared_result.h"
#include "exec/worker_bound.h"
#include "pg_compat.h"
#include "pg_compat/executor.h"
#include "plan/plan_node.h"
#include "plan/plan_shared.h"
#include "sort/parts_join.h"
#include "sort/portion_share.h"
#include "sort/sort_input.h"
#include "sort/sort_note.h"
#include "sort/sort_parts.h"

/* What a process waits for here, as others see it. */
static uint32 wait_event = 0;

/* Phases of the barrier. */
typedef enum GpuSortSharedPhase
{
	GPUSORT_PHASE_COLLECTING,	/* a participant that attaches now collects */
	GPUSORT_PHASE_SORTING,		/* one sorts, the others wait */
	GPUSORT_PHASE_READING		/* the result is there */
} GpuSortSharedPhase;

/*
 * In dynamic shared memory; behind it the store of refused rows, and room for a view of
 * the result.
 */
typedef struct GpuSortShared
{
	/* written before participants are started */
	dsm_handle	segment;		/* that this is in */
	int			participants;	/* that there may be; the leader is number 0 */
	bool		rescanned;		/* with the Gather */
	bool		in_pool;		/* else all rows are refused */
	uint32		parts_number;
	SharedFileSet files;		/* of refused rows, and of the result */

	Barrier		barrier;
	GpuSortSharedResult result;
	GpuSortCollectCounts counts[FLEXIBLE_ARRAY_MEMBER];
} GpuSortShared;

typedef struct GpuSortSharedState
{
	CustomScanState css;		/* must be first field */

	/* what is asked for */
	GpuSortSpec spec;
	int			slice_columns;	/* 0: all rows to each */
	bool		random_access;
	bool		tells_equal;

	/* what the participants share */
	GpuSortShared *shared;		/* NULL: there is no parallel query, or none any more */
	ParallelContext *pcxt;		/* in the leader, with it */
	GpuSortParts *parts;		/* NULL: rows have no place in the pool */
	GpuSort    *owner;			/* in the leader, of the extents of all */
	GpuSortRefused refused;

	/*
	 * Memory.  The first context lives until the query's memory goes, when no worker is
	 * left: a node is ended before its Gather waits for them.  The second is below it, for
	 * one execution; NULL: nothing has begun.
	 */
	MemoryContext context;
	MemoryContext result_context;

	/* the child */
	List	   *projections;	/* of the scans below */

	/* this execution */
	bool		child_read;		/* since the child was initialised or rescanned */
	bool		ready;			/* rows may be returned */
	instr_time	collect_time;	/* of this participant, for a node above */
	GpuSortResult result;

	/* in the leader, for EXPLAIN, which comes when the shared memory has gone */
	GpuSortReport report;
	GpuSortKeptCounts kept;
} GpuSortSharedState;

static void begin_node(CustomScanState *css, EState *estate, int eflags);
static TupleTableSlot *exec_node(CustomScanState *css);
static void end_node(CustomScanState *css);
static void rescan_node(CustomScanState *css);
static void mark_position(CustomScanState *css);
static void restore_position(CustomScanState *css);
static Size estimate_shared(CustomScanState *css, ParallelContext *pcxt);
static void initialize_shared(CustomScanState *css, ParallelContext *pcxt, void *coordinate);
static void reinitialize_shared(CustomScanState *css, ParallelContext *pcxt, void *coordinate);
static void attach_shared(CustomScanState *css, shm_toc *toc, void *coordinate);
static void detach_shared(CustomScanState *css);
static void explain_node(CustomScanState *css, List *ancestors, ExplainState *es);

static const CustomExecMethods exec_methods = {
	.CustomName = GPUSORT_SHARED_NODE,
	.BeginCustomScan = begin_node,
	.ExecCustomScan = exec_node,
	.EndCustomScan = end_node,
	.ReScanCustomScan = rescan_node,
	.MarkPosCustomScan = mark_position,
	.RestrPosCustomScan = restore_position,
	.EstimateDSMCustomScan = estimate_shared,
	.InitializeDSMCustomScan = initialize_shared,
	.ReInitializeDSMCustomScan = reinitialize_shared,
	.InitializeWorkerCustomScan = attach_shared,
	.ShutdownCustomScan = detach_shared,
	.ExplainCustomScan = explain_node
};

Node *
gpusort_create_shared_state(CustomScan *scan)
{
	GpuSortSharedState *node = palloc0(sizeof(GpuSortSharedState));

	NodeSetTag(node, T_CustomScanState);
	node->css.methods = &exec_methods;
	gpusort_set_slot_ops(&node->css, &TTSOpsMinimalTuple);
	return (Node *) node;
}

/* ---------- what one execution has ---------- */

/* The context of all that an execution allocates. */
static MemoryContext
result_context(GpuSortSharedState *node)
{
	if (node->result_context == NULL)
		node->result_context = AllocSetContextCreate(node->context, "GpuSort Shared result",
													 ALLOCSET_DEFAULT_SIZES);
	return node->result_context;
}

static void
forget_result(GpuSortSharedState *node)
{
	ExecClearTuple(node->css.ss.ss_ScanTupleSlot);
	gpusort_close_result(&node->result);
	if (node->result_context != NULL)
		MemoryContextDelete(node->result_context);
	node->result_context = NULL;
	node->ready = false;
	INSTR_TIME_SET_ZERO(node->collect_time);
}

/* ---------- shared memory ---------- */

static Size
refused_offset(int participants)
{
	return MAXALIGN(offsetof(GpuSortShared, counts) +
					participants * sizeof(GpuSortCollectCounts));
}

static Size
view_offset(int participants)
{
	return refused_offset(participants) + MAXALIGN(sts_estimate(participants));
}

static SharedTuplestore *
refused_rows(GpuSortShared *shared)
{
	return (SharedTuplestore *) ((char *) shared + refused_offset(shared->participants));
}

static GpuSortSharedView *
room_for_view(GpuSortShared *shared)
{
	return (GpuSortSharedView *) ((char *) shared + view_offset(shared->participants));
}

static Size
estimate_shared(CustomScanState *css, ParallelContext *pcxt)
{
	return add_size(view_offset(pcxt->nworkers + 1), gpusort_shared_view_bytes());
}

/* Let the participants have parts in the pool, if there is one. */
static void
create_parts(GpuSortSharedState *node)
{
	GpuSortShared *shared = node->shared;

	if (node->owner == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(node->context);

		node->owner = gpusort_parts_begin_owner(ExecGetResultType(outerPlanState(node)),
												&node->spec);
		MemoryContextSwitchTo(old);
	}
	node->parts = gpusort_parts_create(node->owner, shared->participants,
									   gpusort_rows_of_all(outerPlan(node->css.ss.ps.plan),
														   shared->participants - 1));
	shared->in_pool = node->parts != NULL;
	if (shared->in_pool)
		shared->parts_number = gpusort_parts_number(node->parts);
}

/* Have access to what the participants share, in the leader and in workers. */
static void
begin_access(GpuSortSharedState *node)
{
	GpuSortShared *shared = node->shared;
	GpuSortResult *result = &node->result;
	MemoryContext old = MemoryContextSwitchTo(result_context(node));

	gpusort_begin_refused(&node->refused, refused_rows(shared), shared->participants,
						  &shared->files);
	MemoryContextSwitchTo(old);
	result->spec = &node->spec;
	result->desc = ExecGetResultType(outerPlanState(node));
	result->slice_columns = node->slice_columns;
	result->shared = &shared->result;
	result->room = shared->in_pool ? room_for_view(shared) : NULL;
	result->files = &shared->files;
}

/* Before workers are started, for the first or another time. */
static void
begin_execution(GpuSortSharedState *node)
{
	GpuSortShared *shared = node->shared;

	forget_result(node);
	BarrierInit(&shared->barrier, 0);
	gpusort_init_shared_result(&shared->result);
	memset(shared->counts, 0, shared->participants * sizeof(GpuSortCollectCounts));
	create_parts(node);
	begin_access(node);
}

static void
initialize_shared(CustomScanState *css, ParallelContext *pcxt, void *coordinate)
{
	GpuSortSharedState *node = (GpuSortSharedState *) css;

	/* there is no segment, and no worker */
	if (pcxt->seg == NULL)
		return;
	node->shared = coordinate;
	node->pcxt = pcxt;
	node->shared->segment = dsm_segment_handle(pcxt->seg);
	node->shared->participants = pcxt->nworkers + 1;
	node->shared->rescanned = false;
	SharedFileSetInit(&node->shared->files, pcxt->seg);
	begin_execution(node);
}

static void
reinitialize_shared(CustomScanState *css, ParallelContext *pcxt, void *coordinate)
{
	GpuSortSharedState *node = (GpuSortSharedState *) css;

	if (node->shared == NULL)
		return;
	SharedFileSetDeleteAll(&node->shared->files);
	node->shared->rescanned = true;
	begin_execution(node);
}

static void
attach_shared(CustomScanState *css, shm_toc *toc, void *coordinate)
{
	GpuSortSharedState *node = (GpuSortSharedState *) css;
	GpuSortShared *shared = coordinate;

	node->shared = shared;
	if (shared->rescanned)
		gpusort_worker_bound_is_old();
	if (shared->in_pool)
		node->parts = gpusort_parts_attach(shared->parts_number);
	SharedFileSetAttach(&shared->files, dsm_find_mapping(shared->segment));
	begin_access(node);
}

static void
keep_counts(GpuSortSharedState *node, const GpuSortCollectCounts *counts, int participants)
{
	gpusort_keep_counts(&node->kept, counts, participants,
						node->css.ss.ps.state->es_query_cxt);
}

/*
 * The shared memory is about to go, and no other row will be fetched.  Workers may
 * still run, if the leader has stopped early.
 */
static void
detach_shared(CustomScanState *css)
{
	GpuSortSharedState *node = (GpuSortSharedState *) css;
	GpuSortShared *shared = node->shared;

	if (shared != NULL && shared->result.report.performed)
	{
		node->report = shared->result.report;
		keep_counts(node, shared->counts, shared->participants);
	}
	node->shared = NULL;
	node->pcxt = NULL;
	node->result.shared = NULL;
}

/* ---------- collecting and sorting ---------- */

/* Read the child into this participant's part. */
static void
collect(GpuSortSharedState *node)
{
	GpuSortCollectCounts *counts = &node->shared->counts[ParallelWorkerNumber + 1];
	GpuSortInput input = {
		.child = outerPlanState(node), .is_part = true, .projections = node->projections
	};
	MemoryContext context = AllocSetContextCreate(result_context(node), "GpuSort Shared part",
												  ALLOCSET_DEFAULT_SIZES);
	TupleTableSlot *refused;

	if (node->parts != NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(context);

		input.sort = gpusort_parts_begin_part(node->parts, ExecGetResultType(input.child),
											  &node->spec);
		MemoryContextSwitchTo(old);
		if (node->tells_equal && input.sort != NULL)
			gpusort_tell_equal(input.sort);
		if (node->pcxt != NULL)
			gpusort_parts_launched(node->parts, node->pcxt->nworkers_launched + 1);
	}
	while ((refused = gpusort_drain_input(&input)) != NULL)
	{
		gpusort_keep_refused(&node->refused, refused);
		counts->refused++;
	}
	gpusort_finish_refused(&node->refused);
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

/* All have collected: have the rows of all in a sort. */
static GpuSort *
join_parts(GpuSortSharedState *node)
{
	MemoryContext old = MemoryContextSwitchTo(result_context(node));
	TupleDesc	desc = ExecGetResultType(outerPlanState(node));
	GpuSort    *sort;

	if (node->parts != NULL)
	{
		sort = gpusort_parts_begin_joined(node->parts, desc, &node->spec);
		if (node->tells_equal)
			gpusort_tell_equal(sort);
		gpusort_parts_join(node->parts, sort);
		if (node->slice_columns > 0)
			gpusort_divide(sort, node->slice_columns, 0);
	}
	else
		sort = gpusort_begin(desc, &node->spec, false);
	gpusort_put_refused(&node->refused, desc, sort);
	MemoryContextSwitchTo(old);
	return sort;
}

/* It was performed: let all have the result. */
static void
publish(GpuSortSharedState *node, GpuSort *sort, instr_time collect_time)
{
	MemoryContext old = MemoryContextSwitchTo(result_context(node));

	gpusort_note_sort(sort, collect_time, (instr_time) {0});
	gpusort_publish_result(&node->result, sort, node->shared->participants, collect_time);
	MemoryContextSwitchTo(old);
}

static void
perform(GpuSortSharedState *node, GpuSort *sort)
{
	MemoryContext old = MemoryContextSwitchTo(result_context(node));

	gpusort_perform(sort);
	MemoryContextSwitchTo(old);
}

/* All have collected: sort the rows of all. */
static void
sort_parts(GpuSortSharedState *node, instr_time collect_time)
{
	GpuSort    *sort = join_parts(node);

	perform(node, sort);
	publish(node, sort, collect_time);
}

/* Sort with the others; the result is published when this returns. */
static void
take_part(GpuSortSharedState *node, instr_time start)
{
	Barrier    *barrier = &node->shared->barrier;
	int			phase = BarrierAttach(barrier);

	if (phase == GPUSORT_PHASE_COLLECTING)
	{
		collect(node);
		if (BarrierArriveAndWait(barrier, gpusort_wait_event(&wait_event, "GpuSortShared")))
			sort_parts(node, gpusort_elapsed(start));
		phase = GPUSORT_PHASE_SORTING;
	}
	if (phase == GPUSORT_PHASE_SORTING)
		BarrierArriveAndWait(barrier, gpusort_wait_event(&wait_event, "GpuSortShared"));
	BarrierDetach(barrier);
}

/* There is no parallel query. */
static void
sort_alone(GpuSortSharedState *node, instr_time start)
{
	PlanState  *child = outerPlanState(node);
	MemoryContext old = MemoryContextSwitchTo(result_context(node));
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
	keep_counts(node, &(GpuSortCollectCounts) {.taken = input.taken, .from_pages = input.from_pages,
				.took_part = true}, 1);
	gpusort_keep_result(&node->result, sort);
}

/* There is one: sort with the others, and find the result. */
static void
sort_together(GpuSortSharedState *node, instr_time start)
{
	MemoryContext old;

	take_part(node, start);
	old = MemoryContextSwitchTo(result_context(node));
	gpusort_find_result(&node->result);
	MemoryContextSwitchTo(old);
}

/* ---------- together with others ---------- */

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
gpusort_shared_open(PlanState *ps)
{
	GpuSortSharedState *node = (GpuSortSharedState *) ps;
	MemoryContext old = MemoryContextSwitchTo(result_context(node));

	gpusort_find_result(&node->result);
	MemoryContextSwitchTo(old);
	node->child_read = true;
	node->ready = true;
}

static void
make_result(GpuSortSharedState *node)
{
	EState	   *estate = node->css.ss.ps.state;
	ScanDirection direction = estate->es_direction;
	instr_time	start;

	/* the child is always read forward, whatever was asked of us */
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

bool
gpusort_shared_view(PlanState *ps, GpuSortView *view)
{
	GpuSortSharedState *node = (GpuSortSharedState *) ps;

	if (!node->ready)
		make_result(node);
	return gpusort_view_result(&node->result, view);
}

bool
gpusort_shared_slices(PlanState *ps, GpuSortView *view)
{
	GpuSortSharedState *node = (GpuSortSharedState *) ps;

	if (!node->ready)
		make_result(node);
	return gpusort_view_slices(&node->result, view);
}

bool
gpusort_shared_next_slice(PlanState *ps, uint64 *from, uint64 *end)
{
	return gpusort_take_slice(&((GpuSortSharedState *) ps)->result, from, end);
}

/* ---------- the node ---------- */

static TupleTableSlot *
exec_proc_node(PlanState *ps)
{
	GpuSortSharedState *node = (GpuSortSharedState *) ps;
	TupleTableSlot *slot = node->css.ss.ss_ScanTupleSlot;
	bool		forward = ScanDirectionIsForward(ps->state->es_direction);

	CHECK_FOR_INTERRUPTS();

	if (unlikely(!node->ready))
		make_result(node);
	return likely(gpusort_fetch_result(&node->result, forward, slot)) ? slot : ExecClearTuple(slot);
}

static TupleTableSlot *
exec_node(CustomScanState *css)
{
	return exec_proc_node(&css->ss.ps);
}

static void
begin_node(CustomScanState *css, EState *estate, int eflags)
{
	GpuSortSharedState *node = (GpuSortSharedState *) css;
	CustomScan *scan = (CustomScan *) css->ss.ps.plan;

	gpusort_read_spec(scan, &node->spec);
	node->slice_columns = gpusort_slice_columns(scan);
	node->tells_equal = gpusort_tells_equal(scan);
	node->random_access = gpusort_is_random_access(eflags);
	node->context = AllocSetContextCreate(estate->es_query_cxt, "GpuSort Shared",
										  ALLOCSET_DEFAULT_SIZES);

	gpusort_begin_child(css, estate, eflags);
	node->projections = gpusort_prepare_input(outerPlanState(css));
	gpusort_return_scanned_rows(css);
	css->ss.ps.ExecProcNode = exec_proc_node;
}

/* The owner of the extents stays: workers may still be there. */
static void
end_node(CustomScanState *css)
{
	GpuSortSharedState *node = (GpuSortSharedState *) css;

	forget_result(node);
	ExecEndNode(outerPlanState(node));
}

/* Can the rows be read once more without being sorted once more? */
static bool
can_rewind(const GpuSortSharedState *node)
{
	return outerPlanState(node)->chgParam == NULL &&
		gpusort_can_rewind_result(&node->result, node->random_access);
}

static void
rescan_node(CustomScanState *css)
{
	GpuSortSharedState *node = (GpuSortSharedState *) css;
	PlanState  *child = outerPlanState(node);

	if (node->ready && can_rewind(node))
	{
		ExecClearTuple(css->ss.ss_ScanTupleSlot);
		gpusort_rewind_result(&node->result);
		return;
	}
	if (node->ready && node->shared != NULL)
		elog(ERROR, "gpusort: a shared sort can only be rescanned with its Gather");
	if (node->ready)
		forget_result(node);
	if (node->child_read && child->chgParam == NULL)
		ExecReScan(child);
	node->child_read = false;
}

static void
mark_position(CustomScanState *css)
{
	GpuSortSharedState *node = (GpuSortSharedState *) css;

	if (node->ready)
		gpusort_mark_result(&node->result);
}

static void
restore_position(CustomScanState *css)
{
	GpuSortSharedState *node = (GpuSortSharedState *) css;

	if (node->ready)
		gpusort_restore_result(&node->result);
}

/*
 * What a GpuSort says about the sort, which one of the participants does; what each of
 * them gets of the result; and how the rows were collected.
 */
static void
explain_node(CustomScanState *css, List *ancestors, ExplainState *es)
{
	GpuSortSharedState *node = (GpuSortSharedState *) css;

	gpusort_explain_columns(css, &node->spec, node->spec.nkeys, "Sort Key", ancestors, es);
	if (node->slice_columns > 0)
		gpusort_explain_columns(css, &node->spec, node->slice_columns, "Sliced By", ancestors, es);
	else
		ExplainPropertyText("Rows To", "each participant", es);
	if (es->verbose)
		gpusort_explain_encoding(css, &node->spec, es);
	if (!es->analyze || !node->report.performed)
		return;
	gpusort_explain_report(&node->report, es);
	gpusort_explain_counts(&node->kept, "Files", es);
}
