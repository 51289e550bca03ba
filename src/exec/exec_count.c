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
#include "exec/groups_private.h"
#include "pg_compat/executor.h"
#include "plan/plan_node.h"
#include "sort/sort_cursor.h"

/* How many words of the bitmap are counted between two checks for interrupts. */
#define WORDS_AT_A_TIME 65536

typedef struct GpuSortCountState
{
	GpuSortGroupsNode groups;	/* must be first field */
	AttrNumber	attno;			/* the first sort column, and whether its nulls come first */
	bool		nulls_first;
} GpuSortCountState;

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

/*
 * Returns whether there are nulls in the stretch.  All nulls lie at one end of the rows.
 */
static bool
has_nulls(GpuSortCountState *node)
{
	GpuSortGroupsNode *groups = &node->groups;
	uint64		position = node->nulls_first ? 0 : groups->view.nrows - 1;

	if (position < groups->next || position >= groups->end)
		return false;
	gpusort_store_tuple(groups->row, gpusort_view_row(&groups->view, position));
	return slot_attisnull(groups->row, node->attno);
}

/* Counts different rows, and those whose first column is null. */
static void
count_rows(GpuSortCountState *node, uint64 *nrows, uint64 *nnulls)
{
	GpuSortGroupsNode *groups = &node->groups;

	*nrows = *nnulls = 0;
	gpusort_open_groups(groups, NULL);
	while (groups->by_position && gpusort_next_stretch(groups))
	{
		*nrows += groups->end - groups->next -
			count_bits(groups->equal_rows, groups->next, groups->end);
		*nnulls += has_nulls(node);
	}
	while (!groups->by_position && gpusort_next_first_row(groups, groups->row))
	{
		(*nrows)++;
		*nnulls += slot_attisnull(groups->row, node->attno);
	}
	ExecClearTuple(groups->row);
}

/* ---------- the node ---------- */

static TupleTableSlot *
exec_proc_node(PlanState *ps)
{
	GpuSortCountState *node = (GpuSortCountState *) ps;
	TupleTableSlot *slot = node->groups.css.ss.ss_ScanTupleSlot;
	const List *values = list_nth(((const CustomScan *) ps->plan)->custom_private,
								  GPUSORT_UNIQUE_VALUES);
	uint64		nrows;
	uint64		nnulls;

	CHECK_FOR_INTERRUPTS();

	if (node->groups.done)
		return NULL;
	count_rows(node, &nrows, &nnulls);
	node->groups.done = true;
	ResetExprContext(ps->ps_ExprContext);
	ExecClearTuple(slot);
	for (int i = 0; i < slot->tts_tupleDescriptor->natts; i++)
	{
		slot->tts_values[i] = Int64GetDatum(list_nth_int(values, i) != 0 ? nrows - nnulls : nrows);
		slot->tts_isnull[i] = false;
	}
	return gpusort_return_group(&node->groups);
}

static void
begin_node(CustomScanState *css, int eflags)
{
	GpuSortCountState *node = (GpuSortCountState *) css;
	GpuSortSpec spec;
	ListCell   *lc;

	foreach(lc, ((const CustomScan *) css->ss.ps.plan)->custom_scan_tlist)
		gpusort_check_aggregate(castNode(Aggref, lfirst_node(TargetEntry, lc)->expr)->aggfnoid);
	gpusort_begin_groups(&node->groups);
	gpusort_read_spec((const CustomScan *) outerPlan(css->ss.ps.plan), &spec);
	node->attno = spec.attnos[0];
	node->nulls_first = spec.nulls_first[0];
}

GpuSortNodeKind gpusort_count_kind = {
	.methods = {
		.CustomName = GPUSORT_COUNT_NODE,
		.ReScanCustomScan = gpusort_rescan_groups,
		.ExplainCustomScan = gpusort_explain_equal_rows
	},
	.state_bytes = sizeof(GpuSortCountState),
	.begin = begin_node,
	.next = exec_proc_node,
	.release = gpusort_release_groups
};
