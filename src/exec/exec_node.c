/*
 * exec_node.c
 *		What all nodes that return the rows of a sort have in common, and slots that show only
 *		the first columns of their rows.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "optimizer/optimizer.h"

#include "exec/exec.h"
#include "exec/exec_private.h"
#include "pg_compat/executor.h"

/* ---------- nodes ---------- */

/* What our nodes provide by themselves, so that the child need not support it. */
#define RANDOM_ACCESS	(EXEC_FLAG_REWIND | EXEC_FLAG_BACKWARD | EXEC_FLAG_MARK)

bool
gpusort_is_random_access(int eflags)
{
	return (eflags & RANDOM_ACCESS) != 0;
}

/*
 * The inverse of get_parallel_divisor(), by which the planner divides the rows of a partial path.
 */
double
gpusort_exec_rows_of_all(const Plan *partial, int workers)
{
	double		leader = parallel_leader_participation ? Max(1.0 - 0.3 * workers, 0) : 0;

	return partial->plan_rows * (workers + leader);
}

void
gpusort_begin_child(CustomScanState *css, EState *estate, int eflags)
{
	outerPlanState(css) = ExecInitNode(outerPlan(css->ss.ps.plan), estate,
									   eflags & ~RANDOM_ACCESS);
}

void
gpusort_start_in_child(PlanState *child)
{
	if (child->instrument != NULL)
		InstrStartNode(child->instrument);
}

void
gpusort_stop_in_child(PlanState *child, double rows)
{
	if (child->instrument != NULL)
		InstrStopNode(child->instrument, rows);
}

void
gpusort_return_scanned_rows(CustomScanState *css)
{
	PlanState  *ps = &css->ss.ps;
	CustomScan *scan = (CustomScan *) ps->plan;

	gpusort_init_slots(css, ExecTypeFromTL(scan->custom_scan_tlist), &TTSOpsMinimalTuple);
	ps->ps_ProjInfo = NULL;
	ps->resultops = ps->scanops;
	ps->resultopsfixed = ps->scanopsfixed;
	ps->resultopsset = ps->scanopsset;
}

/* ---------- clean slots ---------- */

static HeapTuple
copy_heap_tuple(TupleTableSlot *slot)
{
	slot_getallattrs(slot);
	return heap_form_tuple(slot->tts_tupleDescriptor, slot->tts_values, slot->tts_isnull);
}

static MinimalTuple
copy_minimal_tuple(GPUSORT_COPY_MINIMAL_TUPLE_PARAMETERS)
{
	slot_getallattrs(slot);
	return gpusort_form_minimal_tuple(slot);
}

/*
 * Returns the operations of clean slots: those of minimal tuple slots, but for the functions that
 * hand out the stored tuple.
 */
static const TupleTableSlotOps *
clean_slot_ops(void)
{
	static TupleTableSlotOps ops;

	if (ops.base_slot_size == 0)
	{
		ops = TTSOpsMinimalTuple;
		ops.get_minimal_tuple = NULL;
		ops.copy_heap_tuple = copy_heap_tuple;
		ops.copy_minimal_tuple = copy_minimal_tuple;
	}
	return &ops;
}

TupleTableSlot *
gpusort_make_clean_slot(EState *estate, TupleDesc desc)
{
	return ExecInitExtraTupleSlot(estate, desc, clean_slot_ops());
}
