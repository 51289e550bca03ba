/*
 * unique_rows.c
 *		The first ones of equal rows; see groups_private.h.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"

#include "exec/exec.h"
#include "exec/groups_private.h"
#include "plan/plan_node.h"

void
gpusort_begin_unique_rows(GpuSortUniqueRows *rows, CustomScanState *css)
{
	GpuSortUniqueKey key;

	gpusort_read_unique_key((const CustomScan *) css->ss.ps.plan, &key);
	rows->child = outerPlanState(css);
	rows->econtext = css->ss.ps.ps_ExprContext;
	rows->match = execTuplesMatchPrepare(ExecGetResultType(rows->child), key.count, key.attnos,
										 key.eqops, key.collations, &css->ss.ps);
}

bool
gpusort_open_unique_rows(GpuSortUniqueRows *rows)
{
	if (rows->opened)
		return rows->is_view;
	gpusort_start_in_child(rows->child);
	rows->result = gpusort_exec_result(rows->child, true);
	rows->is_view = rows->result != NULL && gpusort_result_view(rows->result, &rows->view) &&
		(rows->view.equal != NULL || rows->view.nrows == 0);
	gpusort_stop_in_child(rows->child, 0);
	rows->opened = true;
	return rows->is_view;
}

bool
gpusort_next_unique_stretch(GpuSortUniqueRows *rows, uint64 *from, uint64 *end)
{
	bool		found;

	gpusort_start_in_child(rows->child);
	found = gpusort_result_next_stretch(rows->result, from, end);
	gpusort_stop_in_child(rows->child, found ? (double) (*end - *from) : 0);
	return found;
}

bool
gpusort_next_unique_row(GpuSortUniqueRows *rows, TupleTableSlot *previous)
{
	for (;;)
	{
		TupleTableSlot *slot = ExecProcNode(rows->child);

		CHECK_FOR_INTERRUPTS();
		if (TupIsNull(slot))
			return false;
		if (!TTS_EMPTY(previous))
		{
			rows->econtext->ecxt_innertuple = slot;
			rows->econtext->ecxt_outertuple = previous;
			if (ExecQualAndReset(rows->match, rows->econtext))
				continue;
		}
		ExecCopySlot(previous, slot);
		return true;
	}
}

void
gpusort_rescan_unique_rows(GpuSortUniqueRows *rows)
{
	rows->opened = false;
	ExecReScan(rows->child);
}

void
gpusort_explain_unique_rows(const GpuSortUniqueRows *rows, ExplainState *es)
{
	if (es->analyze && rows->opened)
		ExplainPropertyText("Equal Rows", rows->is_view ? "known from the sort" : "compared", es);
}
