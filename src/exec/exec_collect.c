/*
 * exec_collect.c
 *		Executing a GpuSort Collect node: collecting rows in parallel workers.
 *
 * Every participant, the leader among them, reads its child into a part of the GpuSort's sort
 * (sort_parts.h).  The node returns only the rows that the part refuses, which travel through the
 * Gather as any rows do; it has nothing more to return when the part is finished.
 *
 * How leader and workers come together:
 *
 *	GpuSort			begins or resets the sort, tells this node about it (gpusort_collect_for), and
 *					reads the Gather
 *	Gather			sets up dynamic shared memory in the first execution; in each execution, before
 *					it starts workers, it has this node initialize its part of that memory
 *	participants	collect, and meet when all have (exec_private.h)
 *	this node		in the leader joins the parts and sorts, with the help of the workers that
 *					have collected (sort/sort.h); then it ends in all participants
 *	GpuSort			finds the rows sorted when the Gather has returned its last row, by which time
 *					all workers have ended (gpusort_collect_join)
 *
 * If a part refuses a row, if GpuSort wants something else done with the rows, or if the leader
 * does not take part, workers end when they have collected.  Then GpuSort has the parts joined, and
 * sorts the rows.
 *
 * Without workers there may be no shared memory: where rows are fetched a few at a time (cursors,
 * Execute messages with a limit), Gather has the leader do all the work.  Then the leader's rows go
 * straight into the sort.
 *
 * A rescan reaches the leader's node after the shared memory was set up again, even in the first
 * execution.  So rescanning concerns only what the leader itself reads.
 *
 * The parts' extents belong to the sort, whichever process took them, and are given back with it.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "exec/exec.h"
#include "exec/exec_private.h"
#include "exec/explain_private.h"
#include "plan/plan_node.h"
#include "sort/sort.h"
#include "sort/sort_input.h"
#include "sort/sort_parts.h"
#include "team/worker_wait.h"
#include "team/workers.h"

/* Lives in dynamic shared memory.  Behind it lies the team that sorts. */
typedef struct GpuSortCollectShared
{
	bool		sort_is_shared; /* there are parts; otherwise all rows go through the Gather */
	uint32		parts_number;
	int			participants;	/* at most; the leader is number 0 */
	GpuSortMeeting meeting;
	GpuSortCollectCounts counts[FLEXIBLE_ARRAY_MEMBER];
} GpuSortCollectShared;

struct GpuSortCollectState
{
	CustomScanState css;		/* must be first field */
	GpuSortSpec spec;
	GpuSortCollectShared *shared;	/* NULL: there is no parallel query */

	/* in the leader, from gpusort_collect_for() to gpusort_collect_join() */
	ParallelContext *context;	/* NULL: there is no parallel query */
	GpuSort    *sort;			/* what the rows are collected for */
	MemoryContext sort_context;
	bool		sorts;			/* the participants that have collected also sort */
	bool		sorted;

	/* this participant's part, while rows are collected */
	GpuSortParts *parts;		/* NULL: the sort has no parts */
	GpuSort    *part;			/* NULL: there is none, or it was not begun yet */
	MemoryContext part_context;
	GpuSortInput input;
	List	   *projections;	/* of the scans that the child reads */
	bool		begun;
	bool		finished;

	/* in the leader, for EXPLAIN */
	GpuSortKeptCounts kept;
};

GpuSortCollectState *
gpusort_find_collect(PlanState *child)
{
	PlanState  *below;

	if (!IsA(child, GatherState))
		return NULL;
	below = outerPlanState(child);
	return gpusort_exec_is_kind(below, &gpusort_collect_kind) ? (GpuSortCollectState *) below
		: NULL;
}

PlanState *
gpusort_collect_input(GpuSortCollectState *node)
{
	return outerPlanState(node);
}

/* ---------- shared memory ---------- */

static Size
team_offset(int participants)
{
	return MAXALIGN(offsetof(GpuSortCollectShared, counts) +
					participants * sizeof(GpuSortCollectCounts));
}

static GpuSortTeam *
team_of(GpuSortCollectShared *shared)
{
	return (GpuSortTeam *) ((char *) shared + team_offset(shared->participants));
}

static Size
estimate_shared(CustomScanState *css, ParallelContext *pcxt)
{
	return add_size(team_offset(pcxt->nworkers + 1), gpusort_team_bytes());
}

/*
 * Called before workers are started, for the first execution and each further one.  If parts cannot
 * be had for the sort, every row goes through the Gather.
 */
static void
begin_execution(CustomScanState *css, ParallelContext *pcxt, void *coordinate)
{
	GpuSortCollectState *node = (GpuSortCollectState *) css;
	GpuSortCollectShared *shared = coordinate;

	shared->participants = pcxt->nworkers + 1;
	memset(shared->counts, 0, shared->participants * sizeof(GpuSortCollectCounts));
	node->parts = gpusort_parts_create(node->sort, shared->participants,
									   gpusort_exec_rows_of_all(outerPlan(css->ss.ps.plan),
																pcxt->nworkers));
	shared->sort_is_shared = node->parts != NULL;
	if (shared->sort_is_shared)
		shared->parts_number = gpusort_parts_number(node->parts);
	gpusort_meeting_init(&shared->meeting, !shared->sort_is_shared || !node->sorts);
	gpusort_team_init(team_of(shared), 0);
	node->shared = shared;
	node->context = pcxt;
}

static void
initialize_shared(CustomScanState *css, ParallelContext *pcxt, void *coordinate)
{
	gpusort_worker_watch(css->ss.ps.state->es_query_cxt);
	begin_execution(css, pcxt, coordinate);
}

static void
attach_shared(CustomScanState *css, shm_toc *toc, void *coordinate)
{
	GpuSortCollectState *node = (GpuSortCollectState *) css;

	node->shared = coordinate;
	if (node->shared->sort_is_shared)
		node->parts = gpusort_parts_attach(node->shared->parts_number);
}

/* Called in the leader: dismisses the team, so that no worker waits for the leader any longer. */
static void
dismiss_team(GpuSortCollectState *node)
{
	if (node->context != NULL)
		gpusort_team_dismiss(team_of(node->shared));
}

/* Called when the shared memory is about to go. */
static void
detach_shared(CustomScanState *css)
{
	GpuSortCollectState *node = (GpuSortCollectState *) css;

	dismiss_team(node);
	node->shared = NULL;
	node->context = NULL;
}

/* ---------- the GpuSort's side ---------- */

void
gpusort_collect_for(GpuSortCollectState *node, GpuSort *sort, MemoryContext context, bool sorts)
{
	node->sort = sort;
	node->sort_context = context;
	node->sorts = sorts;
	node->sorted = false;
}

static void
keep_counts(GpuSortCollectState *node)
{
	GpuSortCollectCounts alone = {.taken = node->input.taken,
		.from_pages = node->input.from_pages,.took_part = true};
	MemoryContext context = node->css.ss.ps.state->es_query_cxt;

	if (node->shared != NULL)
		gpusort_keep_counts(&node->kept, node->shared->counts, node->shared->participants,
							context);
	else
		gpusort_keep_counts(&node->kept, &alone, 1, context);
}

static void
join_parts(GpuSortCollectState *node)
{
	keep_counts(node);
	if (node->parts != NULL)
		gpusort_parts_join(node->parts, node->sort);
	node->parts = NULL;
}

bool
gpusort_collect_join(GpuSortCollectState *node)
{
	if (!node->sorted)
		join_parts(node);
	/* counts are kept once more, since some workers may have come after they were kept last */
	keep_counts(node);
	node->sort = NULL;
	return node->sorted;
}

/*
 * Called in the leader when all participants have collected: joins the parts, and sorts with the
 * help of the workers that are there, or come meanwhile.
 */
static void
sort_parts(GpuSortCollectState *node)
{
	int			launched = node->context->nworkers_launched;

	join_parts(node);
	if (launched > 0)
		gpusort_use_team(node->sort, team_of(node->shared), launched + 1);
	gpusort_perform(node->sort);
	gpusort_use_team(node->sort, NULL, 0);
	node->sorted = true;
	dismiss_team(node);
}

/* Called when this participant has collected: sorts in the leader, and helps in a worker. */
static void
sort_with_others(GpuSortCollectState *node)
{
	GpuSortMeeting *meeting = &node->shared->meeting;

	if (!IsParallelWorker())
	{
		if (gpusort_meeting_await(meeting))
			sort_parts(node);
	}
	else if (gpusort_meeting_arrive(meeting) &&
			 gpusort_team_pays((double) gpusort_parts_rows(node->parts)))
		gpusort_team_help(team_of(node->shared));
}

/* ---------- a participant ---------- */

/* Prepares this participant's input: its rows go into its part, or straight into the sort. */
static void
begin_collecting(GpuSortCollectState *node)
{
	PlanState  *child = outerPlanState(node);

	node->input = (GpuSortInput) {.child = child, .projections = node->projections};
	if (node->shared == NULL)
		node->input.sort = node->sort;
	else if (node->parts != NULL)
	{
		MemoryContext parent = node->sort != NULL ? node->sort_context :
			node->css.ss.ps.state->es_query_cxt;
		MemoryContext old;

		node->part_context = AllocSetContextCreate(parent, "GpuSort Collect",
												   ALLOCSET_DEFAULT_SIZES);
		old = MemoryContextSwitchTo(node->part_context);
		node->part = gpusort_parts_begin_part(node->parts, ExecGetResultType(child),
											  &node->spec);
		MemoryContextSwitchTo(old);
		node->input.sort = node->part;
		node->input.is_part = true;
		if (node->context != NULL)
			gpusort_parts_launched(node->parts, node->context->nworkers_launched + 1);
	}
	node->begun = true;
	gpusort_worker_fault("a part of a sort");
}

static void
end_part(GpuSortCollectState *node)
{
	if (node->part != NULL)
		gpusort_end(node->part);
	node->part = NULL;
	if (node->part_context != NULL)
		MemoryContextDelete(node->part_context);
	node->part_context = NULL;
}

/*
 * Returns the counts of this participant in shared memory, or NULL if there is no parallel query.
 */
static GpuSortCollectCounts *
my_counts(GpuSortCollectState *node)
{
	return node->shared != NULL ? &node->shared->counts[ParallelWorkerNumber + 1] : NULL;
}

/*
 * Called when a row goes through the Gather: no worker may wait for the leader, which has to read
 * the Gather.
 */
static void
note_refused(GpuSortCollectState *node)
{
	if (node->shared == NULL)
		return;
	my_counts(node)->refused++;
	gpusort_meeting_call_off(&node->shared->meeting);
	gpusort_team_dismiss(team_of(node->shared));
}

static void
finish_collecting(GpuSortCollectState *node)
{
	GpuSortCollectCounts *counts = my_counts(node);

	if (node->part != NULL)
		gpusort_parts_finish_part(node->parts, node->part);
	end_part(node);
	if (counts != NULL)
	{
		counts->taken = node->input.taken;
		counts->from_pages = node->input.from_pages;
		counts->took_part = true;
	}
}

/* Collects until a row is refused, which is returned, or to the end. */
static TupleTableSlot *
collect(GpuSortCollectState *node)
{
	TupleTableSlot *refused = gpusort_drain_input(&node->input);

	if (refused != NULL)
		note_refused(node);
	else
	{
		finish_collecting(node);
		node->finished = true;
		if (node->shared != NULL)
			sort_with_others(node);
	}
	return refused;
}

/* Called in a worker that comes when the leader is sorting: helps, without collecting. */
static void
help_late(GpuSortCollectState *node)
{
	my_counts(node)->took_part = true;
	node->finished = true;
	gpusort_team_help(team_of(node->shared));
}

static TupleTableSlot *
exec_proc_node(PlanState *ps)
{
	GpuSortCollectState *node = (GpuSortCollectState *) ps;

	CHECK_FOR_INTERRUPTS();

	if (node->finished)
		return NULL;
	if (!node->begun && IsParallelWorker())
		gpusort_worker_fault("coming to a sort");
	if (!node->begun && node->shared != NULL && !gpusort_meeting_enter(&node->shared->meeting))
	{
		help_late(node);
		return NULL;
	}
	if (!node->begun)
		begin_collecting(node);
	return collect(node);
}

/* Makes the node return the slots of its child. */
static void
return_childs_rows(PlanState *ps)
{
	ps->ps_ProjInfo = NULL;
	ps->resultops = ExecGetResultSlotOps(outerPlanState(ps), &ps->resultopsfixed);
	ps->resultopsset = true;
}

static void
begin_node(CustomScanState *css, int eflags)
{
	GpuSortCollectState *node = (GpuSortCollectState *) css;

	gpusort_read_spec((const CustomScan *) css->ss.ps.plan, &node->spec);
	node->projections = gpusort_prepare_input(outerPlanState(node));
	return_childs_rows(&css->ss.ps);
}

static void
release_team(CustomScanState *css)
{
	dismiss_team((GpuSortCollectState *) css);
}

static void
end_node(CustomScanState *css)
{
	end_part((GpuSortCollectState *) css);
}

static void
rescan_node(CustomScanState *css)
{
	GpuSortCollectState *node = (GpuSortCollectState *) css;
	PlanState  *child = outerPlanState(node);

	end_part(node);
	node->begun = node->finished = false;
	if (child->chgParam == NULL)
		ExecReScan(child);
}

static void
explain_node(CustomScanState *css, List *ancestors, ExplainState *es)
{
	GpuSortCollectState *node = (GpuSortCollectState *) css;

	if (es->analyze && node->kept.counts != NULL)
		gpusort_explain_counts(&node->kept, "Gather", es);
}

GpuSortNodeKind gpusort_collect_kind = {
	.methods = {
		.CustomName = GPUSORT_COLLECT_NODE,
		.ReScanCustomScan = rescan_node,
		.EstimateDSMCustomScan = estimate_shared,
		.InitializeDSMCustomScan = initialize_shared,
		.ReInitializeDSMCustomScan = begin_execution,
		.InitializeWorkerCustomScan = attach_shared,
		.ShutdownCustomScan = detach_shared,
		.ExplainCustomScan = explain_node
	},
	.state_bytes = sizeof(GpuSortCollectState),
	.begin = begin_node,
	.next = exec_proc_node,
	.release = release_team,
	.end = end_node
};
