/*
 * exec_groups.c
 *		A node that makes something of groups of equal rows; see groups_private.h.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"

#include "exec/exec.h"
#include "exec/groups_private.h"
#include "plan/plan_node.h"

void
gpusort_begin_groups(GpuSortGroupsNode *node)
{
	PlanState  *ps = &node->css.ss.ps;
	GpuSortUniqueKey key;

	node->child = outerPlanState(ps);
	node->row = ExecInitExtraTupleSlot(ps->state, ExecGetResultType(node->child),
									   &TTSOpsMinimalTuple);
	gpusort_read_unique_key((const CustomScan *) ps->plan, &key);
	if (key.count > 0)
		node->same = execTuplesMatchPrepare(ExecGetResultType(node->child), key.count, key.attnos,
											key.eqops, key.collations, ps);
}

/* ---------- reading the rows ---------- */

void
gpusort_open_groups(GpuSortGroupsNode *node, GpuSortCursor *cursor)
{
	gpusort_start_in_child(node->child);
	node->result = gpusort_exec_result(node->child, cursor == NULL);
	if (cursor != NULL)
	{
		node->by_position = node->result != NULL && gpusort_result_cursor(node->result, cursor);
		node->equal_rows = node->by_position ? gpusort_result_equal(node->result) : NULL;
	}
	else
	{
		node->by_position = node->result != NULL &&
			gpusort_result_view(node->result, &node->view) &&
			(node->view.equal != NULL || node->view.nrows == 0);
		node->equal_rows = node->by_position ? node->view.equal : NULL;
	}
	gpusort_stop_in_child(node->child, 0);
	node->next = node->end = 0;
	node->done = false;
	node->opened = true;
}

bool
gpusort_next_stretch(GpuSortGroupsNode *node)
{
	bool		found;

	gpusort_start_in_child(node->child);
	found = gpusort_result_next_stretch(node->result, &node->next, &node->end);
	gpusort_stop_in_child(node->child, found ? (double) (node->end - node->next) : 0);
	return found;
}

bool
gpusort_is_same_group(GpuSortGroupsNode *node, TupleTableSlot *first, TupleTableSlot *row)
{
	ExprContext *econtext = node->css.ss.ps.ps_ExprContext;

	econtext->ecxt_innertuple = row;
	econtext->ecxt_outertuple = first;
	return ExecQualAndReset(node->same, econtext);
}

bool
gpusort_next_first_row(GpuSortGroupsNode *node, TupleTableSlot *previous)
{
	for (;;)
	{
		TupleTableSlot *slot = ExecProcNode(node->child);

		CHECK_FOR_INTERRUPTS();
		if (TupIsNull(slot))
			return false;
		if (TTS_EMPTY(previous) || !gpusort_is_same_group(node, previous, slot))
		{
			ExecCopySlot(previous, slot);
			return true;
		}
	}
}

/* ---------- the rest of the node ---------- */

TupleTableSlot *
gpusort_return_group(GpuSortGroupsNode *node)
{
	PlanState  *ps = &node->css.ss.ps;
	TupleTableSlot *slot = node->css.ss.ss_ScanTupleSlot;

	ExecStoreVirtualTuple(slot);
	ps->ps_ExprContext->ecxt_scantuple = slot;
	if (ExecQual(ps->qual, ps->ps_ExprContext))
		return ps->ps_ProjInfo != NULL ? ExecProject(ps->ps_ProjInfo) : slot;
	InstrCountFiltered1(ps, 1);
	return NULL;
}

void
gpusort_release_groups(CustomScanState *css)
{
	ExecClearTuple(css->ss.ss_ScanTupleSlot);
	ExecClearTuple(((GpuSortGroupsNode *) css)->row);
}

void
gpusort_rescan_groups(CustomScanState *css)
{
	GpuSortGroupsNode *node = (GpuSortGroupsNode *) css;

	gpusort_release_groups(css);
	node->opened = node->done = false;
	ExecReScan(node->child);
}

void
gpusort_explain_equal_rows(CustomScanState *css, List *ancestors, ExplainState *es)
{
	const GpuSortGroupsNode *node = (const GpuSortGroupsNode *) css;

	if (es->analyze && node->opened)
		ExplainPropertyText("Equal Rows", node->by_position ? "known from the sort" : "compared",
							es);
}
