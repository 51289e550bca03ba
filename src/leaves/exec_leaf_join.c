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
#include "nodes/nodeFuncs.h"
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
	int			max_cuts;
	int			ncuts;
	pg_atomic_uint32 next_range;	/* the first range that nobody has taken */

	/* what participants that have ended have found */
	pg_atomic_uint64 ranges;
	pg_atomic_uint64 matches;

	uint64		cuts[FLEXIBLE_ARRAY_MEMBER];	/* words where the ranges behind the first begin */
} LeafJoinShared;

typedef struct LeafJoinState
{
	CustomScanState css;		/* must be first field */
	GpuSortLeafRows rows;
	LeafJoinShared *shared;		/* NULL: the query is not parallel, or shared memory has gone */
	uint32		next_range;		/* used without shared memory */
	bool		is_open;		/* the readers have begun */
	bool		in_range;		/* a range has been taken and has not ended */
	bool		done;			/* there are no more rows */
	bool		counted;		/* this participant's counts have been added to the shared ones */
	GpuSortJoinReport report;
} LeafJoinState;

static void begin_node(CustomScanState *css, EState *estate, int eflags);
static TupleTableSlot *exec_node(CustomScanState *css);
static void end_node(CustomScanState *css);
static void rescan_node(CustomScanState *css);
static Size estimate_shared(CustomScanState *css, ParallelContext *pcxt);
static void initialize_shared(CustomScanState *css, ParallelContext *pcxt, void *coordinate);
static void reinitialize_shared(CustomScanState *css, ParallelContext *pcxt, void *coordinate);
static void attach_shared(CustomScanState *css, shm_toc *toc, void *coordinate);
static void detach_shared(CustomScanState *css);
static void explain_node(CustomScanState *css, List *ancestors, ExplainState *es);

static const CustomExecMethods exec_methods = {
	.CustomName = GPUSORT_LEAF_JOIN_NODE,
	.BeginCustomScan = begin_node,
	.ExecCustomScan = exec_node,
	.EndCustomScan = end_node,
	.ReScanCustomScan = rescan_node,
	.EstimateDSMCustomScan = estimate_shared,
	.InitializeDSMCustomScan = initialize_shared,
	.ReInitializeDSMCustomScan = reinitialize_shared,
	.InitializeWorkerCustomScan = attach_shared,
	.ShutdownCustomScan = detach_shared,
	.ExplainCustomScan = explain_node
};

static Node *
create_state(CustomScan *scan)
{
	LeafJoinState *node = palloc0(sizeof(LeafJoinState));

	NodeSetTag(node, T_CustomScanState);
	node->css.methods = &exec_methods;
	return (Node *) node;
}

void
gpusort_register_leaf_join(void)
{
	static const CustomScanMethods methods = {
		.CustomName = GPUSORT_LEAF_JOIN_NODE, .CreateCustomScanState = create_state
	};

	RegisterCustomScanMethods(&methods);
}

/* ---------- indexes ---------- */

static void
open_indexes(LeafJoinState *node)
{
	EState	   *estate = node->css.ss.ps.state;
	MemoryContext old;

	if (node->is_open)
		return;
	old = MemoryContextSwitchTo(node->rows.context);
	gpusort_begin_leaf_rows(&node->rows);
	MemoryContextSwitchTo(old);
	node->is_open = true;
	if (node->rows.bare_slot != NULL)
		ExecStoreVirtualTuple(ExecClearTuple(node->rows.bare_slot));
	/* a serializable transaction has read the tables, as it has by sequential scans */
	for (int i = 0; i < 2; i++)
		PredicateLockRelation(node->rows.sides[i].reader.heap, estate->es_snapshot);
}

static void
close_indexes(LeafJoinState *node)
{
	ExecClearTuple(node->css.ss.ps.ps_ResultTupleSlot);
	if (node->is_open)
		gpusort_clear_leaf_rows(&node->rows);
	MemoryContextReset(node->rows.context);
	node->is_open = node->in_range = false;
}

/* ---------- shared memory ---------- */

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
	LeafJoinShared *shared = node->shared;

	node->in_range = node->done = node->counted = false;
	pg_atomic_init_u32(&shared->next_range, 0);
	pg_atomic_init_u64(&shared->ranges, 0);
	pg_atomic_init_u64(&shared->matches, 0);
}

static void
initialize_shared(CustomScanState *css, ParallelContext *pcxt, void *coordinate)
{
	LeafJoinState *node = (LeafJoinState *) css;
	GpuSortLeafSide *sides = node->rows.sides;
	int			larger;

	/* without a segment there are no workers; else each participant may join for itself */
	if (pcxt->seg == NULL || !css->ss.ps.plan->parallel_aware)
		return;
	node->shared = coordinate;
	open_indexes(node);
	larger = RelationGetNumberOfBlocks(sides[OUTER].reader.index) >=
		RelationGetNumberOfBlocks(sides[INNER].reader.index) ? OUTER : INNER;
	node->shared->ncuts = gpusort_cut_leaves(&sides[larger].reader, node->shared->cuts,
											 max_cuts(node, pcxt->nworkers + 1));
	begin_execution(node);
}

static void
reinitialize_shared(CustomScanState *css, ParallelContext *pcxt, void *coordinate)
{
	LeafJoinState *node = (LeafJoinState *) css;

	if (node->shared != NULL)
		begin_execution(node);
}

static void
attach_shared(CustomScanState *css, shm_toc *toc, void *coordinate)
{
	LeafJoinState *node = (LeafJoinState *) css;

	if (css->ss.ps.plan->parallel_aware)
		node->shared = coordinate;
}

/*
 * Fills in the report with what this participant has found so far.  With shared memory, that is
 * added to what all participants have found, once.
 */
static void
count_rows(LeafJoinState *node)
{
	LeafJoinShared *shared = node->shared;

	if (!node->is_open || node->counted)
		return;
	node->report.performed = true;
	node->report.ranges = node->rows.nranges;
	node->report.matches = node->rows.nmatches;
	node->report.pieces = shared != NULL ? shared->ncuts + 1 : 1;
	if (shared == NULL)
		return;
	node->counted = true;
	pg_atomic_fetch_add_u64(&shared->ranges, node->report.ranges);
	pg_atomic_fetch_add_u64(&shared->matches, node->report.matches);
}

/*
 * Takes the counts of all participants from shared memory, which is about to go, and returns no
 * more rows.  Without shared memory, this may only be the end of a FETCH: more rows may be asked
 * for.
 */
static void
detach_shared(CustomScanState *css)
{
	LeafJoinState *node = (LeafJoinState *) css;
	LeafJoinShared *shared = node->shared;

	count_rows(node);
	if (shared == NULL)
		return;
	node->report.ranges = pg_atomic_read_u64(&shared->ranges);
	node->report.matches = pg_atomic_read_u64(&shared->matches);
	node->shared = NULL;
	node->done = true;
}

/* ---------- joining ---------- */

/* Takes the next range of keys and goes to its beginning; returns false if there are no more. */
static bool
next_range(LeafJoinState *node)
{
	const LeafJoinShared *shared = node->shared;
	uint32		ncuts = shared != NULL ? shared->ncuts : 0;
	uint32		range;

	if (shared != NULL)
		range = pg_atomic_fetch_add_u32(&node->shared->next_range, 1);
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

	if (unlikely(node->done))
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
	node->done = true;
	count_rows(node);
	return NULL;
}

static TupleTableSlot *
exec_node(CustomScanState *css)
{
	return exec_proc_node(&css->ss.ps);
}

/* ---------- the node ---------- */

/* An expression walker that notes which sides' columns are used, in sides[].wanted. */
static bool
find_wanted(Node *expr, void *arg)
{
	GpuSortLeafSide *sides = arg;

	if (expr == NULL)
		return false;
	if (IsA(expr, Var))
	{
		if (((const Var *) expr)->varno == OUTER_VAR)
			sides[OUTER].wanted = true;
		if (((const Var *) expr)->varno == INNER_VAR)
			sides[INNER].wanted = true;
		return false;
	}
	return expression_tree_walker(expr, find_wanted, arg);
}

static ExprState *
begin_clauses(LeafJoinState *node, GpuSortJoinExprs which)
{
	const CustomScan *scan = (const CustomScan *) node->css.ss.ps.plan;
	List	   *clauses = list_nth(scan->custom_exprs, which);

	(void) find_wanted((Node *) clauses, node->rows.sides);
	return ExecInitQual(clauses, &node->css.ss.ps);
}

static void
begin_node(CustomScanState *css, EState *estate, int eflags)
{
	LeafJoinState *node = (LeafJoinState *) css;
	CustomScan *scan = (CustomScan *) css->ss.ps.plan;
	PlanState  *ps = &css->ss.ps;
	GpuSortLeafRows *rows = &node->rows;

	eflags &= ~(EXEC_FLAG_REWIND | EXEC_FLAG_BACKWARD | EXEC_FLAG_MARK);
	outerPlanState(css) = ExecInitNode(outerPlan(scan), estate, eflags);
	innerPlanState(css) = ExecInitNode(innerPlan(scan), estate, eflags);
	rows->sides[OUTER].scan = castNode(IndexOnlyScanState, outerPlanState(css));
	rows->sides[INNER].scan = castNode(IndexOnlyScanState, innerPlanState(css));
	rows->context = AllocSetContextCreate(estate->es_query_cxt, "GpuSort Index Join",
										  ALLOCSET_DEFAULT_SIZES);

	ps->ps_ProjInfo = ExecBuildProjectionInfo(scan->custom_scan_tlist, ps->ps_ExprContext,
											  ps->ps_ResultTupleSlot, ps, NULL);
	(void) find_wanted((Node *) scan->custom_scan_tlist, rows->sides);
	rows->ps = ps;
	rows->filter = begin_clauses(node, GPUSORT_JOIN_FILTER);
	rows->qual = begin_clauses(node, GPUSORT_JOIN_OTHER);
	if (scan->custom_scan_tlist == NIL && rows->filter == NULL && rows->qual == NULL)
		rows->bare_slot = ps->ps_ResultTupleSlot;
	ps->ExecProcNode = exec_proc_node;
}

static void
end_node(CustomScanState *css)
{
	LeafJoinState *node = (LeafJoinState *) css;

	close_indexes(node);
	ExecEndNode(outerPlanState(css));
	ExecEndNode(innerPlanState(css));
	MemoryContextDelete(node->rows.context);
}

/* Shared memory is initialized again afterwards, by reinitialize_shared(). */
static void
rescan_node(CustomScanState *css)
{
	LeafJoinState *node = (LeafJoinState *) css;

	close_indexes(node);
	node->next_range = 0;
	node->done = false;
	node->rows.nranges = node->rows.nmatches = 0;
	if (outerPlanState(css)->chgParam != NULL)
		ExecReScan(outerPlanState(css));
	if (innerPlanState(css)->chgParam != NULL)
		ExecReScan(innerPlanState(css));
}

/* ---------- EXPLAIN ---------- */

static void
explain_node(CustomScanState *css, List *ancestors, ExplainState *es)
{
	LeafJoinState *node = (LeafJoinState *) css;

	/* the query may have stopped before the last row, where nothing was counted yet */
	if (es->analyze)
		count_rows(node);
	gpusort_explain_join(css, &node->report, ancestors, es);
}
