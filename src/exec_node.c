/*
 * exec_node.c
 *		Executing a GpuSort node.
 *
 * The first fetch drains the child into a GpuSort and sorts it; further ones
 * hand out pointers to the stored tuples.  A row costs a pointer from the
 * block, five stores into the slot and one prefetched cache miss: nothing is
 * copied and nothing palloc'd.  Positions, mark and direction behave as
 * tuplesort's do.
 *
 * If the child is a Gather over a GpuSort Collect node, the participants of that
 * have collected nearly all rows when the child has been drained.
 *
 * ExecProcNode is pointed at our own function, which saves the detour over
 * nodeCustom.c for each row; it checks for interrupts as that does.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/tuplesort.h"

#include "collect_scan.h"
#include "exec_collect.h"
#include "pg_compat.h"
#include "plan_node.h"
#include "prefetch.h"

static void begin_node(CustomScanState *css, EState *estate, int eflags);
static TupleTableSlot *exec_node(CustomScanState *css);
static void end_node(CustomScanState *css);
static void rescan_node(CustomScanState *css);
static void mark_position(CustomScanState *css);
static void restore_position(CustomScanState *css);

static const CustomExecMethods exec_methods = {
	.CustomName = "GpuSort",
	.BeginCustomScan = begin_node,
	.ExecCustomScan = exec_node,
	.EndCustomScan = end_node,
	.ReScanCustomScan = rescan_node,
	.MarkPosCustomScan = mark_position,
	.RestrPosCustomScan = restore_position,
	.ExplainCustomScan = gpusort_explain
};

Node *
gpusort_create_scan_state(CustomScan *scan)
{
	GpuSortScanState *node = palloc0(sizeof(GpuSortScanState));

	NodeSetTag(node, T_CustomScanState);
	node->css.methods = &exec_methods;
	gpusort_set_slot_ops(&node->css, &TTSOpsMinimalTuple);
	return (Node *) node;
}

/* Collect and sort the child's rows. */
static void
sort_input(GpuSortScanState *node)
{
	PlanState  *child = outerPlanState(node);
	EState	   *estate = node->css.ss.ps.state;
	ScanDirection direction = estate->es_direction;
	instr_time	start;

	/* the child is always read forward, whatever was asked of us */
	estate->es_direction = ForwardScanDirection;

	INSTR_TIME_SET_CURRENT(start);
	if (node->sort == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(node->context);

		node->sort = gpusort_begin(ExecGetResultType(child), &node->spec,
								   node->random_access);
		MemoryContextSwitchTo(old);
	}
	if (node->collect != NULL)
		gpusort_collect_for(node->collect, node->sort, node->context);
	gpusort_drain(&(GpuSortDrain) {.child = child, .sort = node->sort});
	if (node->collect != NULL)
		gpusort_collect_join(node->collect);
	INSTR_TIME_SET_CURRENT(node->collect_time);
	INSTR_TIME_SUBTRACT(node->collect_time, start);

	gpusort_perform(node->sort);

	estate->es_direction = direction;
	node->sorted = true;
	node->next = 0;
	node->at_end = false;
	node->block = &node->blocks[0];
	node->ahead = &node->blocks[1];
	node->block->count = node->ahead->count = 0;
}

/*
 * Put a tuple that outlives its stay there into a minimal tuple slot:
 * ExecStoreMinimalTuple() for the case that needs no clean-up.
 */
static inline void
store_tuple(TupleTableSlot *slot, MinimalTuple tuple)
{
	MinimalTupleTableSlot *mslot = (MinimalTupleTableSlot *) slot;

	if (unlikely(TTS_SHOULDFREE(slot)))
		ExecClearTuple(slot);
	slot->tts_nvalid = 0;
	slot->tts_flags &= ~TTS_FLAG_EMPTY;
	mslot->off = 0;
	mslot->mintuple = tuple;
	mslot->minhdr.t_len = tuple->t_len + MINIMAL_TUPLE_OFFSET;
	mslot->minhdr.t_data = (HeapTupleHeader) ((char *) tuple - MINIMAL_TUPLE_OFFSET);
}

/* Load the block of pointers that begins at a position; none if there is none. */
static void
load_block(GpuSortScanState *node, GpuSortBlock *block, uint64 from)
{
	uint64		rows = gpusort_rows(node->sort);

	block->from = from;
	block->count = from < rows ? (int) Min(rows - from, GPUSORT_EMIT_BLOCK) : 0;
	if (block->count > 0)
		gpusort_fetch_block(node->sort, from, block->count, block->rows);
}

/* The row at a position, which exists. */
static inline MinimalTuple
row_at(GpuSortScanState *node, uint64 position)
{
	GpuSortBlock *block = node->block;
	uint64		i = position - block->from;

	if (unlikely(i >= (uint64) block->count))
	{
		GpuSortBlock *ahead = node->ahead;
		uint64		from = position - position % GPUSORT_EMIT_BLOCK;

		if (ahead->count == 0 || ahead->from != from)
			load_block(node, ahead, from);
		node->block = ahead;
		node->ahead = block;
		load_block(node, block, from + GPUSORT_EMIT_BLOCK);
		block = ahead;
		i = position - from;
	}
	/* touch the row that will be returned a block later */
	if (likely(i < (uint64) node->ahead->count))
		prefetch_line(node->ahead->rows[i]);
	return block->rows[i];
}

/* Move one row in the direction of the scan; false if there is none. */
static inline bool
fetch_row(GpuSortScanState *node, bool forward, TupleTableSlot *slot)
{
	if (likely(forward))
	{
		if (unlikely(node->next >= gpusort_rows(node->sort)))
		{
			node->at_end = true;
			return false;
		}
		node->next++;
	}
	else
	{
		/* after the end, the last row comes again; else the one before it */
		if (node->next == 0)
			return false;
		if (node->at_end)
			node->at_end = false;
		else if (--node->next == 0)
			return false;
	}
	store_tuple(slot, row_at(node, node->next - 1));
	return true;
}

static TupleTableSlot *
exec_proc_node(PlanState *ps)
{
	GpuSortScanState *node = (GpuSortScanState *) ps;
	TupleTableSlot *slot = node->css.ss.ss_ScanTupleSlot;
	bool		forward = ScanDirectionIsForward(ps->state->es_direction);
	bool		found;

	CHECK_FOR_INTERRUPTS();

	if (unlikely(!node->sorted))
		sort_input(node);
	if (unlikely(gpusort_tuplesort(node->sort) != NULL))
		found = tuplesort_gettupleslot(gpusort_tuplesort(node->sort), forward, false, slot,
									   NULL);
	else
		found = fetch_row(node, forward, slot);
	return likely(found) ? slot : ExecClearTuple(slot);
}

static TupleTableSlot *
exec_node(CustomScanState *css)
{
	return exec_proc_node(&css->ss.ps);
}

/*
 * What the node returns is what it scans, column by column, whatever its target
 * list has been made of: no projection, and the scan slot is the result.
 */
static void
return_scanned_rows(PlanState *ps)
{
	ps->ps_ProjInfo = NULL;
	ps->resultops = ps->scanops;
	ps->resultopsfixed = ps->scanopsfixed;
	ps->resultopsset = ps->scanopsset;
}

static void
begin_node(CustomScanState *css, EState *estate, int eflags)
{
	GpuSortScanState *node = (GpuSortScanState *) css;
	CustomScan *scan = (CustomScan *) css->ss.ps.plan;

	gpusort_read_spec(scan, &node->spec);
	node->random_access = (eflags & (EXEC_FLAG_REWIND | EXEC_FLAG_BACKWARD |
									 EXEC_FLAG_MARK)) != 0;
	node->context = AllocSetContextCreate(estate->es_query_cxt, "GpuSort",
										  ALLOCSET_DEFAULT_SIZES);

	/* the child need not support what we provide */
	outerPlanState(node) = ExecInitNode(outerPlan(scan), estate,
										eflags & ~(EXEC_FLAG_REWIND | EXEC_FLAG_BACKWARD |
												   EXEC_FLAG_MARK));
	node->collect = gpusort_find_collect(outerPlanState(node));
	gpusort_init_slots(css, ExecTypeFromTL(scan->custom_scan_tlist), &TTSOpsMinimalTuple);
	return_scanned_rows(&css->ss.ps);
	css->ss.ps.ExecProcNode = exec_proc_node;
}

static void
end_node(CustomScanState *css)
{
	GpuSortScanState *node = (GpuSortScanState *) css;

	ExecClearTuple(css->ss.ss_ScanTupleSlot);
	ExecEndNode(outerPlanState(node));
	if (node->sort != NULL)
		gpusort_end(node->sort);
	node->sort = NULL;
	MemoryContextDelete(node->context);
}

static void
rescan_node(CustomScanState *css)
{
	GpuSortScanState *node = (GpuSortScanState *) css;
	PlanState  *child = outerPlanState(node);

	/* nothing read yet: the child is rescanned when it is, if need be */
	if (!node->sorted)
		return;
	ExecClearTuple(css->ss.ss_ScanTupleSlot);

	if (child->chgParam == NULL &&
		(gpusort_tuplesort(node->sort) == NULL || node->random_access))
	{
		node->next = 0;
		node->at_end = false;
		if (gpusort_tuplesort(node->sort) != NULL)
			tuplesort_rescan(gpusort_tuplesort(node->sort));
		return;
	}

	node->sorted = false;
	gpusort_reset(node->sort);
	if (child->chgParam == NULL)
		ExecReScan(child);
}

static void
mark_position(CustomScanState *css)
{
	GpuSortScanState *node = (GpuSortScanState *) css;

	if (!node->sorted)
		return;
	if (gpusort_tuplesort(node->sort) != NULL)
		tuplesort_markpos(gpusort_tuplesort(node->sort));
	node->mark_next = node->next;
	node->mark_at_end = node->at_end;
}

static void
restore_position(CustomScanState *css)
{
	GpuSortScanState *node = (GpuSortScanState *) css;

	if (!node->sorted)
		return;
	if (gpusort_tuplesort(node->sort) != NULL)
		tuplesort_restorepos(gpusort_tuplesort(node->sort));
	node->next = node->mark_next;
	node->at_end = node->mark_at_end;
}
