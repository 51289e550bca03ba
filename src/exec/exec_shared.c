/*
 * exec_shared.c
 *		Executing a GpuSort Shared node, which returns to each participant rows that all
 *		participants of a Gather have sorted (shared_sort.c).
 *
 * A rescan reaches the leader's node only after the shared memory has been set up again
 * (shared_memory.c), which forgets the last result.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "exec/exec.h"
#include "exec/exec_private.h"
#include "exec/explain_private.h"
#include "exec/shared_private.h"
#include "pg_compat/executor.h"
#include "plan/plan_node.h"
#include "sort/sort_input.h"

/* ---------- the result, for a node above ---------- */

GpuSortResult *
gpusort_exec_result(PlanState *ps, bool is_viewed)
{
	GpuSortSharedState *node = (GpuSortSharedState *) ps;

	if (gpusort_is_sort(ps))
		return gpusort_own_result(ps, is_viewed);
	if (!node->ready)
		gpusort_shared_make_result(ps);
	return &node->result;
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
		gpusort_shared_make_result(ps);
	return likely(gpusort_result_fetch(&node->result, forward, slot)) ? slot : ExecClearTuple(slot);
}

static void
begin_node(CustomScanState *css, int eflags)
{
	GpuSortSharedState *node = (GpuSortSharedState *) css;
	CustomScan *scan = (CustomScan *) css->ss.ps.plan;

	gpusort_read_spec(scan, &node->spec);
	node->slice_columns = gpusort_slice_columns(scan);
	node->tells_equal = gpusort_tells_equal(scan);
	node->random_access = gpusort_is_random_access(eflags);
	node->context = AllocSetContextCreate(css->ss.ps.state->es_query_cxt, "GpuSort Shared",
										  ALLOCSET_DEFAULT_SIZES);
	node->projections = gpusort_prepare_input(outerPlanState(css));
}

/* Lets go of the result, but not of the owner of the extents, since workers may be running. */
static void
release_result(CustomScanState *css)
{
	gpusort_shared_forget((GpuSortSharedState *) css);
}

/* Returns whether the rows can be read again without being sorted again. */
static bool
can_rewind(const GpuSortSharedState *node)
{
	return outerPlanState(node)->chgParam == NULL &&
		gpusort_result_can_rewind(&node->result, node->random_access);
}

static void
rescan_node(CustomScanState *css)
{
	GpuSortSharedState *node = (GpuSortSharedState *) css;
	PlanState  *child = outerPlanState(node);

	if (node->ready && can_rewind(node))
	{
		ExecClearTuple(css->ss.ss_ScanTupleSlot);
		gpusort_result_rewind(&node->result);
		return;
	}
	if (node->ready && node->shared != NULL)
		elog(ERROR, "gpusort: a shared sort can only be rescanned with its Gather");
	if (node->ready)
		gpusort_shared_forget(node);
	if (node->child_read && child->chgParam == NULL)
		ExecReScan(child);
	node->child_read = false;
}

static void
mark_position(CustomScanState *css)
{
	GpuSortSharedState *node = (GpuSortSharedState *) css;

	if (node->ready)
		gpusort_result_mark(&node->result);
}

static void
restore_position(CustomScanState *css)
{
	GpuSortSharedState *node = (GpuSortSharedState *) css;

	if (node->ready)
		gpusort_result_restore(&node->result);
}

/*
 * Explains what a GpuSort node explains about its sort, which one of the participants has done; how
 * the result is divided among participants; and how the rows were collected.
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
	gpusort_explain_counts(&node->kept, "Store", es);
}

GpuSortNodeKind gpusort_shared_kind = {
	.methods = {
		.CustomName = GPUSORT_SHARED_NODE,
		.ReScanCustomScan = rescan_node,
		.MarkPosCustomScan = mark_position,
		.RestrPosCustomScan = restore_position,
		.EstimateDSMCustomScan = gpusort_estimate_shared,
		.InitializeDSMCustomScan = gpusort_initialize_shared,
		.ReInitializeDSMCustomScan = gpusort_reinitialize_shared,
		.InitializeWorkerCustomScan = gpusort_attach_shared,
		.ShutdownCustomScan = gpusort_detach_shared,
		.ExplainCustomScan = explain_node
	},
	.state_bytes = sizeof(GpuSortSharedState),
	.returns_scanned_rows = true,
	.begin = begin_node,
	.next = exec_proc_node,
	.release = release_result
};
