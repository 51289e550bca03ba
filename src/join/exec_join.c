/*
 * exec_join.c
 *		Executing a GpuSort Join node.
 *
 * The node's children are two sorts, GpuSort or GpuSort Shared.  Unless it must, it does not fetch
 * their rows one by one, but reads their whole results by position once both have sorted.
 *
 * In a parallel query all participants collect the rows of both sides.  When all have done so, one
 * participant sorts one side while another sorts the other side; a participant that has no side to
 * sort, or has sorted it, helps.  When both sides are sorted, all take pieces of them
 * (join_cuts.h) until there are no more.  Participants meet at a barrier, as those of a GpuSort
 * Shared without a join do (shared_sort.c): a participant that others wait for returns no row
 * meanwhile, one that attaches late takes part in the phase that it finds, and one that never
 * attaches is not waited for.  If a side has no view, one participant joins everything
 * (join_ranges.c).
 *
 * The rows and all other memory of the sorts belong to the children.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "port/atomics.h"
#include "storage/barrier.h"
#include "utils/memutils.h"
#include "utils/wait_event.h"

#include "exec/exec.h"
#include "join/join.h"
#include "join/join_private.h"
#include "pg_compat.h"
#include "plan/plan_node.h"
#include "sort/sort.h"
#include "team/worker_wait.h"

#define OUTER GPUSORT_JOIN_OUTER
#define INNER GPUSORT_JOIN_INNER

/* Phases of the barrier. */
typedef enum GpuSortJoinStage
{
	GPUSORT_STAGE_FIRST,		/* participants collect the first side */
	GPUSORT_STAGE_SECOND,		/* participants collect the second side */
	GPUSORT_STAGE_SORTING,		/* the sides are being sorted */
	GPUSORT_STAGE_JOINING		/* both sides are sorted */
} GpuSortJoinStage;

/* What participants share, in dynamic shared memory. */
typedef struct GpuSortJoinShared
{
	GpuSortJoinCounts counts;	/* must be first field */
	int			participants;	/* how many there may be */
	Barrier		barrier;
	pg_atomic_uint32 next_side; /* the next side that nobody has begun to sort; 2: none */
	GpuSortJoinCounter counter;
} GpuSortJoinShared;

typedef struct GpuSortJoinState
{
	GpuSortJoinNode join;		/* must be first field */
	MemoryContext context;
	GpuSortJoinSide sides[2];
	GpuSortJoinKeys keys;
	GpuSortJoinRows rows;
	GpuSortJoinCounter counter; /* used without shared memory */
	bool		ready;			/* the sides are open */
} GpuSortJoinState;

/* The wait event of waiting for other participants. */
static uint32 wait_event = 0;

/* ---------- shared memory ---------- */

/* Returns what the participants share, or NULL. */
static GpuSortJoinShared *
shared_of(GpuSortJoinState *node)
{
	return (GpuSortJoinShared *) node->join.shared;
}

static Size
estimate_shared(CustomScanState *css, ParallelContext *pcxt)
{
	return sizeof(GpuSortJoinShared);
}

/* Lets go of the sides' rows, so that they can be sorted or joined again. */
static void
forget_rows(GpuSortJoinState *node)
{
	ExecClearTuple(node->join.css.ss.ps.ps_ResultTupleSlot);
	for (int i = 0; i < 2; i++)
		gpusort_clear_join_side(&node->sides[i]);
	gpusort_clear_join_keys(&node->keys);
	node->ready = false;
}

/* Initializes shared memory before workers are started, for the first or another time. */
static void
begin_execution(GpuSortJoinState *node)
{
	GpuSortJoinShared *shared = shared_of(node);

	forget_rows(node);
	BarrierInit(&shared->barrier, 0);
	pg_atomic_init_u32(&shared->next_side, 0);
	gpusort_init_join_counter(&shared->counter);
	gpusort_init_join_counts(&node->join);
}

static void
initialize_shared(CustomScanState *css, ParallelContext *pcxt, void *coordinate)
{
	GpuSortJoinState *node = (GpuSortJoinState *) css;

	if (!gpusort_share_join(&node->join, pcxt, coordinate))
		return;
	shared_of(node)->participants = pcxt->nworkers + 1;
	begin_execution(node);
}

static void
reinitialize_shared(CustomScanState *css, ParallelContext *pcxt, void *coordinate)
{
	GpuSortJoinState *node = (GpuSortJoinState *) css;

	if (node->join.shared != NULL)
		begin_execution(node);
}

static bool
make_report(GpuSortJoinNode *join)
{
	const GpuSortJoinState *node = (const GpuSortJoinState *) join;
	const GpuSortJoinRows *rows = &node->rows;

	if (!node->ready)
		return false;
	join->report.streamed = rows->ranges.streams;
	join->report.merged = rows->ranges.is_merged;
	join->report.pieces = rows->ranges.pieces;
	join->report.ranges = rows->nranges;
	join->report.matches = rows->nmatches;
	return true;
}

/* ---------- sorting and joining ---------- */

static PlanState *
child_of(GpuSortJoinState *node, int side)
{
	return node->sides[side].child;
}

static void
collect(PlanState *child)
{
	gpusort_start_in_child(child);
	gpusort_shared_collect(child);
	gpusort_stop_in_child(child, 0);
}

static void
sort(PlanState *child)
{
	gpusort_start_in_child(child);
	gpusort_shared_sort(child);
	gpusort_stop_in_child(child, 0);
}

/*
 * Has gpusortd sort both sides by one job, in one order.  EXPLAIN ANALYZE shows the time that this
 * takes as the outer side's.
 */
static void
sort_both(GpuSortJoinState *node)
{
	PlanState  *const children[2] = {child_of(node, OUTER), child_of(node, INNER)};

	gpusort_start_in_child(children[OUTER]);
	gpusort_shared_sort_both(children);
	gpusort_stop_in_child(children[OUTER], 0);
}

/* Collects both sides, and has them sorted as sort_both() does, where there are no workers. */
static void
sort_alone(GpuSortJoinState *node)
{
	PlanState  *const children[2] = {child_of(node, OUTER), child_of(node, INNER)};

	for (int i = 0; i < 2; i++)
	{
		gpusort_start_in_child(children[i]);
		gpusort_exec_collect_sort(children[i]);
		gpusort_stop_in_child(children[i], 0);
	}
	gpusort_start_in_child(children[OUTER]);
	gpusort_exec_sort_merged(children);
	gpusort_stop_in_child(children[OUTER], 0);
}

/* Returns whether gpusortd can probably merge the sides.  Participants need not agree on that. */
static bool
may_merge(const GpuSortJoinState *node)
{
	const GpuSortSpec *const specs[2] = {&node->sides[OUTER].spec, &node->sides[INNER].spec};
	const		TupleDesc descs[2] = {
		ExecGetResultType(child_of((GpuSortJoinState *) node, OUTER)),
		ExecGetResultType(child_of((GpuSortJoinState *) node, INNER))
	};

	return gpusort_may_merge(specs, descs);
}

/* Opens a side.  EXPLAIN ANALYZE counts all rows of a view as fetched at once. */
static void
open_side(GpuSortJoinSide *side)
{
	gpusort_start_in_child(side->child);
	gpusort_open_join_side(side);
	gpusort_stop_in_child(side->child, side->is_view ? (double) side->nrows : 0);
}

/*
 * Returns the side that is expected to have fewer rows.  It is read first, since the other side may
 * not have to be read if it turns out to have none.
 */
static int
smaller_side(GpuSortJoinState *node)
{
	return child_of(node, INNER)->plan->plan_rows < child_of(node, OUTER)->plan->plan_rows ?
		INNER : OUTER;
}

/* Returns whether the join has no rows if a side has none. */
static bool
is_nothing_without(const GpuSortJoinState *node, int side)
{
	return !node->rows.alone[!side];
}

/*
 * Helps the participants that sort the sides.  If each side is sorted by a participant of its own,
 * some helpers begin with the one and some with the other; by_one: one participant sorts both.
 */
static void
help_others(GpuSortJoinState *node, bool by_one)
{
	int			first = by_one ? 0 : (ParallelWorkerNumber + 1) % 2;

	for (int i = 0; i < 2; i++)
	{
		PlanState  *child = child_of(node, first ^ i);

		gpusort_start_in_child(child);
		gpusort_shared_help(child);
		gpusort_stop_in_child(child, 0);
	}
}

/*
 * Sorts what all participants have collected, one side at a time or both at once, or helps.
 * next_side is advanced by 1 or 2.
 */
static void
sort_collected(GpuSortJoinState *node)
{
	uint32		count = may_merge(node) ? 2 : 1;
	uint32		side;

	while ((side = pg_atomic_fetch_add_u32(&shared_of(node)->next_side, count)) < 2)
	{
		if (side == 0 && count == 2)
			sort_both(node);
		else
			sort(child_of(node, side));
	}
	help_others(node, count == 2);
}

/*
 * Collects and sorts both sides together with the other participants.  Returns true when both sides
 * are sorted; false if there is nothing to join.
 */
static bool
sort_together(GpuSortJoinState *node)
{
	uint32		event = gpusort_wait_event(&wait_event, "GpuSortJoin");
	Barrier    *barrier = &shared_of(node)->barrier;
	int			stage = BarrierAttach(barrier);
	int			first = smaller_side(node);

	if (stage == GPUSORT_STAGE_FIRST)
	{
		collect(child_of(node, first));
		gpusort_worker_arrive(barrier, event);
		stage = GPUSORT_STAGE_SECOND;
	}
	if (stage == GPUSORT_STAGE_SECOND)
	{
		if (is_nothing_without(node, first) && gpusort_shared_collected(child_of(node, first)) == 0)
		{
			BarrierDetach(barrier);
			return false;
		}
		collect(child_of(node, !first));
		gpusort_worker_arrive(barrier, event);
		stage = GPUSORT_STAGE_SORTING;
	}
	if (stage == GPUSORT_STAGE_SORTING)
	{
		sort_collected(node);
		gpusort_worker_arrive(barrier, event);
	}
	BarrierDetach(barrier);
	for (int i = 0; i < 2; i++)
		gpusort_shared_open(child_of(node, i));
	return true;
}

static void
begin_ranges(GpuSortJoinState *node)
{
	GpuSortJoinRanges *ranges = &node->rows.ranges;
	MemoryContext old = MemoryContextSwitchTo(node->context);

	ranges->sides = node->sides;
	ranges->keys = &node->keys;
	ranges->participants = node->join.shared != NULL ? shared_of(node)->participants : 1;
	ranges->counter = &node->counter;
	if (node->join.shared != NULL)
		ranges->counter = &shared_of(node)->counter;
	else
		gpusort_init_join_counter(&node->counter);
	gpusort_begin_join_ranges(ranges);
	MemoryContextSwitchTo(old);
}

/*
 * Opens the sides one after the other, which sorts them.  Returns false if the first one has no
 * rows, so that there is nothing to join.
 */
static bool
open_one_by_one(GpuSortJoinState *node)
{
	int			smaller = smaller_side(node);
	GpuSortJoinSide *first = &node->sides[smaller];
	GpuSortJoinSide *second = &node->sides[!smaller];

	open_side(first);
	second->is_view = false;
	if (first->is_view && first->nrows == 0 && is_nothing_without(node, smaller) &&
		!second->is_shared)
		return false;
	open_side(second);
	return true;
}

/* Has both sides sorted and opens them; returns false if there is nothing to join. */
static bool
sort_sides(GpuSortJoinState *node)
{
	bool		any_shared = node->sides[OUTER].is_shared || node->sides[INNER].is_shared;

	if (node->join.shared == NULL && (any_shared || !may_merge(node)))
		return open_one_by_one(node);
	if (node->join.shared == NULL)
		sort_alone(node);
	else if (!sort_together(node))
	{
		node->sides[OUTER].is_view = node->sides[INNER].is_view = false;
		return false;
	}
	for (int i = 0; i < 2; i++)
		open_side(&node->sides[i]);
	return true;
}

static void
open_sides(GpuSortJoinState *node)
{
	bool		any = sort_sides(node);

	if (any)
		begin_ranges(node);
	node->rows.nranges = node->rows.nmatches = 0;
	gpusort_restart_join_rows(&node->rows);
	node->join.counted = node->join.done = !any;
	node->ready = true;
}

static TupleTableSlot *
exec_proc_node(PlanState *ps)
{
	GpuSortJoinState *node = (GpuSortJoinState *) ps;
	TupleTableSlot *slot;

	CHECK_FOR_INTERRUPTS();

	if (unlikely(!node->ready))
		open_sides(node);
	if (unlikely(node->join.done))
		return NULL;
	slot = gpusort_next_join_row(&node->rows);
	if (unlikely(slot == NULL))
	{
		node->join.done = true;
		gpusort_count_join(&node->join);
	}
	return slot;
}

static uint64
count_rows(PlanState *ps)
{
	GpuSortJoinState *node = (GpuSortJoinState *) ps;
	uint64		count;

	if (!node->ready)
		open_sides(node);
	if (node->join.done)
		return 0;
	count = gpusort_count_join_rows(&node->rows);
	node->join.done = true;
	gpusort_count_join(&node->join);
	return count;
}

/* ---------- the node ---------- */

static void
begin_node(CustomScanState *css, int eflags)
{
	GpuSortJoinState *node = (GpuSortJoinState *) css;
	const List *how = linitial(((const CustomScan *) css->ss.ps.plan)->custom_private);
	EState	   *estate = css->ss.ps.state;

	gpusort_begin_join_side(&node->sides[OUTER], outerPlanState(css), estate);
	gpusort_begin_join_side(&node->sides[INNER], innerPlanState(css), estate);

	/* the slots must live until the query's end, so they are made in its context */
	gpusort_begin_join_keys(&node->keys, node->sides, estate);
	node->context = AllocSetContextCreate(estate->es_query_cxt, "GpuSort Join",
										  ALLOCSET_DEFAULT_SIZES);

	gpusort_begin_join_node(&node->join, make_report);
	for (int i = 0; i < 2; i++)
		node->sides[i].wanted = node->join.wanted[i];
	node->rows.ps = &css->ss.ps;
	node->rows.sides = node->sides;
	node->rows.context = node->context;
	node->rows.filter = node->join.filter;
	node->rows.qual = node->join.qual;
	gpusort_begin_join_rows(&node->rows, list_nth_int(how, GPUSORT_JOIN_TYPE),
							list_nth_int(how, GPUSORT_JOIN_INNER_UNIQUE) != 0);
}

static void
release_rows(CustomScanState *css)
{
	forget_rows((GpuSortJoinState *) css);
}

static void
end_node(CustomScanState *css)
{
	MemoryContextDelete(((GpuSortJoinState *) css)->context);
}

/*
 * A side that lies in memory is not sorted again if its rows are still the same.  But sides that
 * were merged into one order are either both used again, or both sorted anew.
 */
static void
rescan_node(CustomScanState *css)
{
	GpuSortJoinState *node = (GpuSortJoinState *) css;
	bool		anew[2];

	for (int i = 0; i < 2; i++)
		anew[i] = child_of(node, i)->chgParam != NULL || node->sides[i].is_shared ||
			!node->sides[i].is_view;
	for (int i = 0; i < 2; i++)
		if (anew[i] || (anew[!i] && node->rows.ranges.is_merged))
			ExecReScan(child_of(node, i));
	forget_rows(node);
}

/* The children are read from front to back, and from marks again only where they must be. */
GpuSortNodeKind gpusort_join_kind = {
	.methods = {
		.CustomName = GPUSORT_JOIN_NODE,
		.ReScanCustomScan = rescan_node,
		.EstimateDSMCustomScan = estimate_shared,
		.InitializeDSMCustomScan = initialize_shared,
		.ReInitializeDSMCustomScan = reinitialize_shared,
		.InitializeWorkerCustomScan = gpusort_attach_join,
		.ShutdownCustomScan = gpusort_detach_join,
		.ExplainCustomScan = gpusort_join_explain
	},
	.state_bytes = sizeof(GpuSortJoinState),
	.child_eflags = EXEC_FLAG_MARK,
	.begin = begin_node,
	.next = exec_proc_node,
	.count = count_rows,
	.release = release_rows,
	.end = end_node
};
