/*
 * exec_count.c
 *		Executing a GpuSort Count node, which counts different rows.
 *
 * The node counts bits that the sort has set for equal rows.  It touches no row but the first or
 * the last one, to see whether one of the different values is null.  The counts make up the scan
 * tuple, with a column for each count(DISTINCT x), whole or partial, and the node's target list has
 * expressions of them.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"

#include "exec/exec.h"
#include "exec/exec_private.h"
#include "exec/groups_private.h"
#include "pg_compat/executor.h"
#include "plan/plan_node.h"
#include "sort/sort_cursor.h"

/* How many words of the bitmap are counted between two checks for interrupts. */
#define WORDS_AT_A_TIME 65536

typedef struct GpuSortCountState
{
	CustomScanState css;		/* must be first field */
	GpuSortUniqueRows rows;
	TupleTableSlot *row;		/* holds a row of the child */
	AttrNumber	attno;			/* the first sort column, and whether its nulls come first */
	bool		nulls_first;
	bool		done;
} GpuSortCountState;

static void begin_node(CustomScanState *css, EState *estate, int eflags);
static TupleTableSlot *exec_node(CustomScanState *css);
static void end_node(CustomScanState *css);
static void rescan_node(CustomScanState *css);
static void explain_node(CustomScanState *css, List *ancestors, ExplainState *es);

static const CustomExecMethods exec_methods = {
	.CustomName = GPUSORT_COUNT_NODE,
	.BeginCustomScan = begin_node,
	.ExecCustomScan = exec_node,
	.EndCustomScan = end_node,
	.ReScanCustomScan = rescan_node,
	.ExplainCustomScan = explain_node
};

Node *
gpusort_create_count_state(CustomScan *scan)
{
	GpuSortCountState *node = palloc0(sizeof(GpuSortCountState));

	NodeSetTag(node, T_CustomScanState);
	node->css.methods = &exec_methods;
	gpusort_set_slot_ops(&node->css, &TTSOpsVirtual);
	return (Node *) node;
}

/* ---------- counting ---------- */

/* Returns how many bits are set at positions from .. end - 1. */
static uint64
count_bits(const uint64 *bits, uint64 from, uint64 end)
{
	uint64		count = 0;

	while (from < end)
	{
		uint64		to = Min(end, (from / 64 + WORDS_AT_A_TIME) * 64);

		CHECK_FOR_INTERRUPTS();
		for (; from < to && from % 64 != 0; from++)
			count += bits[from / 64] >> (from % 64) & 1;
		for (; from + 64 <= to; from += 64)
			count += pg_popcount64(bits[from / 64]);
		for (; from < to; from++)
			count += bits[from / 64] >> (from % 64) & 1;
	}
	return count;
}

static bool
is_null_at(GpuSortCountState *node, uint64 position)
{
	bool		isnull;

	gpusort_store_tuple(node->row, gpusort_view_row(&node->rows.view, position));
	isnull = slot_attisnull(node->row, node->attno);
	ExecClearTuple(node->row);
	return isnull;
}

/*
 * Returns whether there are nulls at positions from .. end - 1.  All nulls lie at one end of the
 * rows.
 */
static bool
has_nulls(GpuSortCountState *node, uint64 from, uint64 end)
{
	uint64		position = node->nulls_first ? 0 : node->rows.view.nrows - 1;

	return position >= from && position < end && is_null_at(node, position);
}

static void
count_view(GpuSortCountState *node, uint64 *nrows, uint64 *nnulls)
{
	uint64		from;
	uint64		end;

	while (gpusort_next_unique_stretch(&node->rows, &from, &end))
	{
		*nrows += end - from - count_bits(node->rows.view.equal, from, end);
		*nnulls += has_nulls(node, from, end);
	}
}

static void
count_rows(GpuSortCountState *node, uint64 *nrows, uint64 *nnulls)
{
	*nrows = *nnulls = 0;
	if (gpusort_open_unique_rows(&node->rows))
	{
		count_view(node, nrows, nnulls);
		return;
	}
	while (gpusort_next_unique_row(&node->rows, node->row))
	{
		(*nrows)++;
		*nnulls += slot_attisnull(node->row, node->attno);
	}
	ExecClearTuple(node->row);
}

/* ---------- the node ---------- */

static TupleTableSlot *
exec_node(CustomScanState *css)
{
	GpuSortCountState *node = (GpuSortCountState *) css;
	ProjectionInfo *projection = css->ss.ps.ps_ProjInfo;
	TupleTableSlot *slot = css->ss.ss_ScanTupleSlot;
	const List *values = list_nth(((const CustomScan *) css->ss.ps.plan)->custom_private,
								  GPUSORT_UNIQUE_VALUES);
	uint64		nrows;
	uint64		nnulls;

	if (node->done)
		return NULL;
	count_rows(node, &nrows, &nnulls);
	node->done = true;
	ExecClearTuple(slot);
	for (int i = 0; i < slot->tts_tupleDescriptor->natts; i++)
	{
		slot->tts_values[i] = Int64GetDatum(list_nth_int(values, i) != 0 ? nrows - nnulls : nrows);
		slot->tts_isnull[i] = false;
	}
	ExecStoreVirtualTuple(slot);
	if (projection == NULL)
		return slot;
	ResetExprContext(css->ss.ps.ps_ExprContext);
	css->ss.ps.ps_ExprContext->ecxt_scantuple = slot;
	return ExecProject(projection);
}

static void
begin_node(CustomScanState *css, EState *estate, int eflags)
{
	GpuSortCountState *node = (GpuSortCountState *) css;
	GpuSortSpec spec;
	ListCell   *lc;

	foreach(lc, ((const CustomScan *) css->ss.ps.plan)->custom_scan_tlist)
		gpusort_check_aggregate(castNode(Aggref, lfirst_node(TargetEntry, lc)->expr)->aggfnoid);
	gpusort_begin_child(css, estate, eflags);
	gpusort_begin_unique_rows(&node->rows, css);
	gpusort_read_spec((const CustomScan *) outerPlan(css->ss.ps.plan), &spec);
	node->attno = spec.attnos[0];
	node->nulls_first = spec.nulls_first[0];
	node->row = ExecInitExtraTupleSlot(estate, ExecGetResultType(node->rows.child),
									   &TTSOpsMinimalTuple);
}

static void
end_node(CustomScanState *css)
{
	ExecClearTuple(((GpuSortCountState *) css)->row);
	ExecEndNode(outerPlanState(css));
}

static void
rescan_node(CustomScanState *css)
{
	GpuSortCountState *node = (GpuSortCountState *) css;

	ExecClearTuple(node->row);
	gpusort_rescan_unique_rows(&node->rows);
	node->done = false;
}

static void
explain_node(CustomScanState *css, List *ancestors, ExplainState *es)
{
	gpusort_explain_unique_rows(&((GpuSortCountState *) css)->rows, es);
}
