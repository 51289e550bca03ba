/*
 * exec_leaf_join.c
 *		Executing a GpuSort Index Join node.
 *
 * The node's children are two index-only scans, which are never executed: the node reads their
 * indexes itself, by the page.  It uses the children's relations, projections and conditions, and
 * EXPLAIN shows them.
 *
 * In a parallel query the keys are cut into ranges by keys of the larger index's upper levels, when
 * workers are about to be started.  Each participant takes the next range until there are no more,
 * so the rows that it returns are in order.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "port/atomics.h"
#include "storage/bufmgr.h"
#include "storage/predicate.h"
#include "utils/memutils.h"

#include "join/join.h"
#include "leaves/leaves.h"
#include "leaves/leaves_private.h"
#include "plan/plan_node.h"

#define OUTER GPUSORT_LEAF_OUTER
#define INNER GPUSORT_LEAF_INNER

/*
 * How many ranges there are for each participant, so that none is left alone for long with the last
 * one; and how many pages of the larger index a range has at least, since pages at a range's ends
 * are read for its neighbour, too.
 */
#define RANGES_EACH		24
#define RANGE_PAGES		8

/* What participants share, in dynamic shared memory. */
typedef struct LeafJoinShared
{
	GpuSortJoinCounts counts;	/* must be first field */
	pg_atomic_uint32 next_range;	/* the first range that nobody has taken */
	int			ncuts;
	uint64		cuts[FLEXIBLE_ARRAY_MEMBER];	/* words where the ranges behind the first begin */
} LeafJoinShared;

typedef struct LeafJoinState
{
	GpuSortJoinNode join;		/* must be first field */
	GpuSortLeafRows rows;
	uint32		next_range;		/* used without shared memory */
	bool		is_open;		/* the readers have begun */
	bool		in_range;		/* a range has been taken and has not ended */
} LeafJoinState;

/* ---------- indexes ---------- */

static void
open_indexes(LeafJoinState *node)
{
	EState	   *estate = node->join.css.ss.ps.state;
	MemoryContext old;

	if (node->is_open)
		return;
	old = MemoryContextSwitchTo(node->rows.context);
	gpusort_begin_leaf_rows(&node->rows);
	MemoryContextSwitchTo(old);
	node->is_open = true;
	/* a serializable transaction has read the tables, as it has by sequential scans */
	for (int i = 0; i < 2; i++)
		PredicateLockRelation(node->rows.sides[i].reader.heap, estate->es_snapshot);
}

static void
close_indexes(LeafJoinState *node)
{
	ExecClearTuple(node->join.css.ss.ps.ps_ResultTupleSlot);
	if (node->is_open)
		gpusort_clear_leaf_rows(&node->rows);
	MemoryContextReset(node->rows.context);
	node->is_open = node->in_range = false;
}

/* ---------- shared memory ---------- */

/* Returns what the participants share, or NULL. */
static LeafJoinShared *
shared_of(LeafJoinState *node)
{
	return (LeafJoinShared *) node->join.shared;
}

static int
max_cuts(LeafJoinState *node, int participants)
{
	BlockNumber blocks = 0;

	for (int i = 0; i < 2; i++)
		blocks = Max(blocks,
					 RelationGetNumberOfBlocks(node->rows.sides[i].scan->ioss_RelationDesc));
	return Min(participants * RANGES_EACH, blocks / RANGE_PAGES);
}

static Size
estimate_shared(CustomScanState *css, ParallelContext *pcxt)
{
	return offsetof(LeafJoinShared, cuts) +
		sizeof(uint64) * (pcxt->nworkers + 1) * RANGES_EACH;
}

/* Initializes shared memory before workers are started, for the first or another time. */
static void
begin_execution(LeafJoinState *node)
{
	node->in_range = node->join.done = node->join.counted = false;
	pg_atomic_init_u32(&shared_of(node)->next_range, 0);
	gpusort_init_join_counts(&node->join);
}

static void
initialize_shared(CustomScanState *css, ParallelContext *pcxt, void *coordinate)
{
	LeafJoinState *node = (LeafJoinState *) css;
	GpuSortLeafSide *sides = node->rows.sides;
	int			larger;

	if (!gpusort_share_join(&node->join, pcxt, coordinate))
		return;
	open_indexes(node);
	larger = RelationGetNumberOfBlocks(sides[OUTER].reader.index) >=
		RelationGetNumberOfBlocks(sides[INNER].reader.index) ? OUTER : INNER;
	shared_of(node)->ncuts = gpusort_cut_leaves(&sides[larger].reader, shared_of(node)->cuts,
												max_cuts(node, pcxt->nworkers + 1));
	begin_execution(node);
}

static void
reinitialize_shared(CustomScanState *css, ParallelContext *pcxt, void *coordinate)
{
	LeafJoinState *node = (LeafJoinState *) css;

	if (node->join.shared != NULL)
		begin_execution(node);
}

static bool
make_report(GpuSortJoinNode *join)
{
	LeafJoinState *node = (LeafJoinState *) join;

	if (!node->is_open)
		return false;
	join->report.ranges = node->rows.nranges;
	join->report.matches = node->rows.nmatches;
	join->report.pieces = join->shared != NULL ? shared_of(node)->ncuts + 1 : 1;
	return true;
}

/* ---------- joining ---------- */

/* Takes the next range of keys and goes to its beginning; returns false if there are no more. */
static bool
next_range(LeafJoinState *node)
{
	LeafJoinShared *shared = shared_of(node);
	uint32		ncuts = shared != NULL ? shared->ncuts : 0;
	uint32		range;

	if (shared != NULL)
		range = pg_atomic_fetch_add_u32(&shared->next_range, 1);
	else
		range = node->next_range++;
	if (range > ncuts)
		return false;
	gpusort_seek_leaf_rows(&node->rows, range > 0 ? shared->cuts[range - 1] : 0,
						   range < ncuts ? shared->cuts[range] : 0, range < ncuts);
	return true;
}

static TupleTableSlot *
exec_proc_node(PlanState *ps)
{
	LeafJoinState *node = (LeafJoinState *) ps;
	TupleTableSlot *slot;

	CHECK_FOR_INTERRUPTS();

	if (unlikely(node->join.done))
		return NULL;
	open_indexes(node);
	for (;;)
	{
		if (!node->in_range && !next_range(node))
			break;
		node->in_range = true;
		slot = gpusort_next_leaf_row(&node->rows);
		if (likely(slot != NULL))
			return slot;
		node->in_range = false;
	}
	node->join.done = true;
	gpusort_count_join(&node->join);
	return NULL;
}

static uint64
count_rows(PlanState *ps)
{
	LeafJoinState *node = (LeafJoinState *) ps;
	uint64		count = 0;

	if (node->join.done)
		return 0;
	open_indexes(node);
	while (next_range(node))
		count += gpusort_count_leaf_rows(&node->rows);
	node->join.done = true;
	gpusort_count_join(&node->join);
	return count;
}

/* ---------- the node ---------- */

static void
begin_node(CustomScanState *css, int eflags)
{
	LeafJoinState *node = (LeafJoinState *) css;
	PlanState  *ps = &css->ss.ps;
	GpuSortLeafRows *rows = &node->rows;

	rows->sides[OUTER].scan = castNode(IndexOnlyScanState, outerPlanState(css));
	rows->sides[INNER].scan = castNode(IndexOnlyScanState, innerPlanState(css));
	rows->context = AllocSetContextCreate(ps->state->es_query_cxt, "GpuSort Index Join",
										  ALLOCSET_DEFAULT_SIZES);

	gpusort_begin_join_node(&node->join, make_report);
	for (int i = 0; i < 2; i++)
		rows->sides[i].wanted = node->join.wanted[i];
	rows->ps = ps;
	rows->filter = node->join.filter;
	rows->qual = node->join.qual;
}

static void
release_indexes(CustomScanState *css)
{
	close_indexes((LeafJoinState *) css);
}

static void
end_node(CustomScanState *css)
{
	MemoryContextDelete(((LeafJoinState *) css)->rows.context);
}

/* Shared memory is initialized again afterwards, by reinitialize_shared(). */
static void
rescan_node(CustomScanState *css)
{
	LeafJoinState *node = (LeafJoinState *) css;

	close_indexes(node);
	node->next_range = 0;
	node->join.done = false;
	node->rows.nranges = node->rows.nmatches = 0;
	if (outerPlanState(css)->chgParam != NULL)
		ExecReScan(outerPlanState(css));
	if (innerPlanState(css)->chgParam != NULL)
		ExecReScan(innerPlanState(css));
}

GpuSortNodeKind gpusort_leaf_join_kind = {
	.methods = {
		.CustomName = GPUSORT_LEAF_JOIN_NODE,
		.ReScanCustomScan = rescan_node,
		.EstimateDSMCustomScan = estimate_shared,
		.InitializeDSMCustomScan = initialize_shared,
		.ReInitializeDSMCustomScan = reinitialize_shared,
		.InitializeWorkerCustomScan = gpusort_attach_join,
		.ShutdownCustomScan = gpusort_detach_join,
		.ExplainCustomScan = gpusort_join_explain
	},
	.state_bytes = sizeof(LeafJoinState),
	.begin = begin_node,
	.next = exec_proc_node,
	.count = count_rows,
	.release = release_indexes,
	.end = end_node
};
