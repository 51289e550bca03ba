/*
 * exec_node.c
 *		What all kinds of our nodes have in common, and slots that show only the first columns of
 *		their rows.
 *
 * The server finds a kind by the name in the plan: the methods that it looks up are the first field
 * of the kind's table.
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

const GpuSortNodeKind *
gpusort_node_kind_of(const CustomScan *scan)
{
	return (const GpuSortNodeKind *) scan->methods;
}

/*
 * Makes the state of a node.  A node that is never executed stands only in plans that are not
 * finished; it comes here if another extension has hidden its plan from us.
 */
static Node *
create_state(CustomScan *scan)
{
	const GpuSortNodeKind *kind = gpusort_node_kind_of(scan);
	CustomScanState *css;

	if (kind->state_bytes == 0)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("gpusort could not finish the plan of this query"),
				 errhint("Set gpusort.enable_order_by to off for it.")));
	css = palloc0(kind->state_bytes);
	NodeSetTag(css, T_CustomScanState);
	css->methods = &kind->methods;
	if (kind->returns_scanned_rows)
		gpusort_set_slot_ops(css, &TTSOpsMinimalTuple);
	return (Node *) css;
}

static void
return_scanned_rows(CustomScanState *css)
{
	PlanState  *ps = &css->ss.ps;
	CustomScan *scan = (CustomScan *) ps->plan;

	gpusort_init_slots(css, ExecTypeFromTL(scan->custom_scan_tlist), &TTSOpsMinimalTuple);
	ps->ps_ProjInfo = NULL;
	ps->resultops = ps->scanops;
	ps->resultopsfixed = ps->scanopsfixed;
	ps->resultopsset = ps->scanopsset;
}

static void
begin_node(CustomScanState *css, EState *estate, int eflags)
{
	Plan	   *plan = css->ss.ps.plan;
	const GpuSortNodeKind *kind = gpusort_node_kind_of((const CustomScan *) plan);
	int			child_eflags = (eflags & ~RANDOM_ACCESS) | kind->child_eflags;

	outerPlanState(css) = ExecInitNode(outerPlan(plan), estate, child_eflags);
	innerPlanState(css) = ExecInitNode(innerPlan(plan), estate, child_eflags);
	if (kind->returns_scanned_rows)
		return_scanned_rows(css);
	css->ss.ps.ExecProcNode = kind->next;
	kind->begin(css, eflags);
}

/* Returns the next row, should the server ask for it in the way of its own custom scans. */
static TupleTableSlot *
exec_node(CustomScanState *css)
{
	return css->ss.ps.ExecProcNodeReal(&css->ss.ps);
}

static void
end_node(CustomScanState *css)
{
	const GpuSortNodeKind *kind = gpusort_node_kind_of((const CustomScan *) css->ss.ps.plan);

	if (kind->release != NULL)
		kind->release(css);
	ExecEndNode(outerPlanState(css));
	ExecEndNode(innerPlanState(css));
	if (kind->end != NULL)
		kind->end(css);
}

void
gpusort_register_node(GpuSortNodeKind *kind)
{
	kind->plan.CustomName = kind->methods.CustomName;
	kind->plan.CreateCustomScanState = create_state;
	kind->methods.BeginCustomScan = begin_node;
	kind->methods.ExecCustomScan = exec_node;
	kind->methods.EndCustomScan = end_node;
	RegisterCustomScanMethods(&kind->plan);
}

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
