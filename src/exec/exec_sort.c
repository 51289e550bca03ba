/*
 * exec_sort.c
 *		Executing a GpuSort node.
 *
 * The first fetch reads all of the child's rows into a GpuSort and sorts them; further fetches
 * return the sorted rows (sort_result.h).
 *
 * A late node sorts short rows, which stand for rows of a table.  The table's rows are fetched when
 * they are returned (exec_late.c).
 *
 * If the child is a Gather over a GpuSort Collect node, the participants of the Gather have
 * collected nearly all rows when the child has been read to its end.
 *
 * A Limit above the node bounds the sort (exec_query.c).
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "elapsed.h"
#include "exec/exec.h"
#include "exec/exec_private.h"
#include "exec/explain_private.h"
#include "pg_compat/executor.h"
#include "plan/plan_node.h"
#include "sort/sort.h"
#include "sort/sort_input.h"

typedef struct GpuSortScanState
{
	CustomScanState css;		/* must be first field */

	/* what is asked for */
	GpuSortSpec spec;
	bool		random_access;

	/* which node takes its rows */
	LimitState *limit;			/* or NULL: not known to be a Limit */
	uint64		bound;			/* what the sort was told; 0: none */

	/* the sort */
	MemoryContext context;		/* the sort lives here; below the query's context */
	GpuSort    *sort;			/* NULL before the first execution */
	GpuSortCollectState *collect;	/* collects the rows, or NULL */
	List	   *projections;	/* of the scans that the child reads */
	bool		is_viewed;		/* the node above asks for a view of the rows */
	uint64		from_pages;		/* rows that came straight from pages, for EXPLAIN */
	bool		collected;		/* all rows are in the sort */
	bool		performed;		/* participants that have collected have sorted, too */
	bool		sorted;
	bool		empty;			/* there were no rows, and no sort was begun */
	GpuSortPortionWorkers *workers; /* read the sort back from temporary files, or NULL */
	instr_time	collect_time;	/* the child's time included */

	/* returning its rows */
	GpuSortResult result;		/* valid if sorted is true */
	TupleDesc	rows_desc;		/* of the rows that are sorted */
	GpuSortSpec rows_spec;		/* how they are sorted: as in spec, perhaps by other columns */
	TupleTableSlot *clean_slot; /* shows only the columns that are wanted, or NULL: all are */
	GpuSortLate *late;			/* fetches rows by TID, or NULL: rows are stored */
} GpuSortScanState;

uint64		gpusort_nodes_begun = 0;

bool
gpusort_is_sort(const PlanState *ps)
{
	return gpusort_exec_is_kind(ps, &gpusort_sort_kind);
}

void
gpusort_tell_limit(PlanState *ps, LimitState *limit)
{
	if (gpusort_is_sort(ps))
		((GpuSortScanState *) ps)->limit = limit;
}

static TupleTableSlot *exec_clean_proc_node(PlanState *ps);

bool
gpusort_return_clean_rows(PlanState *ps, TupleDesc desc)
{
	GpuSortScanState *node = (GpuSortScanState *) ps;

	if (!gpusort_is_sort(ps) || node->late != NULL)
		return false;
	node->clean_slot = gpusort_make_clean_slot(ps->state, desc);
	if (gpusort_sort_by_originals(outerPlanState(ps), node->projections, desc->natts,
								  &node->rows_spec))
		node->rows_desc = desc;
	ExecSetExecProcNode(ps, exec_clean_proc_node);
	return true;
}

void
gpusort_give_way(PlanState *ps)
{
	GpuSortScanState *node = (GpuSortScanState *) ps;

	if (!gpusort_is_sort(ps) || !node->sorted ||
		node->late != NULL || !gpusort_should_move_out(node->sort))
		return;
	/* the slots may be read again, since a Limit may show its last row once more */
	if (!TTS_EMPTY(node->css.ss.ss_ScanTupleSlot))
		ExecMaterializeSlot(node->css.ss.ss_ScanTupleSlot);
	if (node->clean_slot != NULL && !TTS_EMPTY(node->clean_slot))
		ExecMaterializeSlot(node->clean_slot);
	gpusort_cursor_close_window(&node->result.cursor);
	gpusort_move_out(node->sort);
}

/*
 * Returns how many rows the Limit above will take, or 0 if there is no Limit or no bound.  The
 * Limit has computed that before it asks for the first row, and before it rescans.  This is
 * compute_tuples_needed() of nodeLimit.c.
 */
static uint64
rows_wanted(const GpuSortScanState *node)
{
	const LimitState *limit = node->limit;

	if (limit == NULL || limit->lstate == LIMIT_INITIAL || limit->noCount ||
		limit->limitOption == LIMIT_OPTION_WITH_TIES)
		return 0;
	return limit->count > PG_INT64_MAX - limit->offset ? 0
		: (uint64) (limit->count + limit->offset);
}

void
gpusort_tell_viewed(PlanState *ps)
{
	if (gpusort_is_sort(ps))
		((GpuSortScanState *) ps)->is_viewed = true;
}

bool
gpusort_returned_rows(PlanState *ps, GpuSortReturned *returned)
{
	GpuSortScanState *node = (GpuSortScanState *) ps;
	uint64		wanted;

	if (!gpusort_is_sort(ps) || !node->sorted ||
		node->late != NULL || node->result.cursor.tuplesort != NULL ||
		node->result.cursor.next == 0 || !gpusort_is_in_memory(node->sort) ||
		gpusort_get_stats(node->sort)->of_keys)
		return false;
	wanted = rows_wanted(node);
	returned->sort = node->sort;
	returned->desc = (node->clean_slot != NULL ? node->clean_slot
					  : node->css.ss.ss_ScanTupleSlot)->tts_tupleDescriptor;
	returned->all_columns = returned->desc->natts == node->rows_desc->natts;
	returned->from = node->result.cursor.next - 1;
	returned->to = wanted == 0 ? gpusort_rows(node->sort)
		: Min(wanted, gpusort_rows(node->sort));
	return true;
}

/* Drops all references to rows, be they in the sort or on pages. */
static void
clear_slots(GpuSortScanState *node)
{
	ExecClearTuple(node->css.ss.ss_ScanTupleSlot);
	if (node->clean_slot != NULL)
		ExecClearTuple(node->clean_slot);
	if (node->late != NULL)
	{
		gpusort_clear_late(node->late);
		gpusort_reset_late(node->late);
	}
}

/* If workers have collected rows, starts workers that load what the sort has in temporary files. */
static void
begin_workers(GpuSortScanState *node)
{
	MemoryContext old = MemoryContextSwitchTo(node->context);

	if (node->collect != NULL)
		node->workers = gpusort_begin_portion_workers(node->sort,
													  node->rows_desc, &node->rows_spec);
	MemoryContextSwitchTo(old);
}

static void
end_workers(GpuSortScanState *node)
{
	if (node->workers == NULL)
		return;
	/* a slot may refer to a row that a worker has loaded */
	clear_slots(node);
	gpusort_cursor_close_window(&node->result.cursor);
	gpusort_end_portion_workers(node->workers);
	node->workers = NULL;
}

/*
 * Puts the child's rows into the sort.  If may_be_empty and there are no rows, begins no sort,
 * since mapping our sort's memory would take much longer than all that PostgreSQL's sort does.  If
 * `sorts`, the participants that have collected the rows also put them in order.
 */
static void
collect_input(GpuSortScanState *node, bool may_be_empty, bool sorts)
{
	PlanState  *child = outerPlanState(node);
	EState	   *estate = node->css.ss.ps.state;
	ScanDirection direction = estate->es_direction;
	GpuSortInput input = {.child = child, .projections = node->projections};
	instr_time	start;

	/* the child is always read forward, whatever the direction of the scan */
	estate->es_direction = ForwardScanDirection;

	INSTR_TIME_SET_CURRENT(start);
	if (may_be_empty && node->sort == NULL && node->collect == NULL)
	{
		input.first = ExecProcNode(child);
		node->empty = TupIsNull(input.first);
		if (node->empty)
		{
			estate->es_direction = direction;
			return;
		}
	}
	if (node->sort == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(node->context);

		node->sort = gpusort_begin(node->rows_desc, &node->rows_spec, node->random_access);
		MemoryContextSwitchTo(old);
		if (gpusort_tells_equal((const CustomScan *) node->css.ss.ps.plan))
			gpusort_tell_equal(node->sort);
	}
	node->bound = rows_wanted(node);
	gpusort_set_bound(node->sort, node->bound);
	(void) gpusort_make_rows_of_keys(node->sort,
									 node->late == NULL && !node->is_viewed &&
									 !gpusort_tells_equal((const CustomScan *)
														  node->css.ss.ps.plan));
	input.sort = node->sort;
	if (node->collect != NULL)
		gpusort_collect_for(node->collect, node->sort, node->context, sorts);
	gpusort_drain_input(&input);
	node->from_pages = input.from_pages;
	node->performed = node->collect != NULL && gpusort_collect_join(node->collect);
	node->collect_time = gpusort_elapsed(start);
	if (node->performed)
		INSTR_TIME_SUBTRACT(node->collect_time, gpusort_get_stats(node->sort)->perform_time);
	estate->es_direction = direction;
	node->collected = true;
}

/* Called when the sort was performed: counts it, and gets ready to return its rows. */
static void
begin_output(GpuSortScanState *node)
{
	gpusort_note_sort(node->sort, node->collect_time, (instr_time) {0});
	begin_workers(node);
	node->sorted = true;
	gpusort_result_open(&node->result, node->sort);
}

/* Sorts the child's rows, which have been collected. */
static void
sort_rows(GpuSortScanState *node)
{
	if (!node->performed)
		gpusort_perform(node->sort);
	begin_output(node);
}

/* Collects and sorts the child's rows.  Returns false if there are none. */
static pg_noinline bool
sort_input(GpuSortScanState *node)
{
	if (!node->collected && !node->empty)
		collect_input(node, true, true);
	if (!node->empty)
		sort_rows(node);
	return !node->empty;
}

/* The same, but begins and performs a sort even if there are no rows. */
static void
sort_any_input(GpuSortScanState *node)
{
	if (!node->collected)
		collect_input(node, false, true);
	sort_rows(node);
}

void
gpusort_exec_collect_sort(PlanState *ps)
{
	GpuSortScanState *node = (GpuSortScanState *) ps;

	node->is_viewed = true;
	if (!node->collected)
		collect_input(node, false, false);
}

void
gpusort_exec_sort_merged(PlanState *const nodes[2])
{
	GpuSortScanState *first = (GpuSortScanState *) nodes[0];
	GpuSortScanState *second = (GpuSortScanState *) nodes[1];
	GpuSort    *const sorts[2] = {first->sort, second->sort};

	if (first->sorted || second->sorted || first->late != NULL || second->late != NULL ||
		!gpusort_perform_merged(sorts))
		return;
	begin_output(first);
	begin_output(second);
}

GpuSortResult *
gpusort_own_result(PlanState *ps, bool is_viewed)
{
	GpuSortScanState *node = (GpuSortScanState *) ps;

	node->is_viewed |= is_viewed;
	if (!node->sorted)
		sort_any_input(node);
	return node->late == NULL ? &node->result : NULL;
}

static TupleTableSlot *
exec_proc_node(PlanState *ps)
{
	GpuSortScanState *node = (GpuSortScanState *) ps;
	TupleTableSlot *slot = node->css.ss.ss_ScanTupleSlot;
	bool		forward = ScanDirectionIsForward(ps->state->es_direction);

	CHECK_FOR_INTERRUPTS();

	if (unlikely(!node->sorted) && !sort_input(node))
		return ExecClearTuple(slot);
	return likely(gpusort_result_fetch(&node->result, forward, slot)) ? slot
		: ExecClearTuple(slot);
}

/* ExecProcNode for a node that returns only the first columns of its rows. */
static TupleTableSlot *
exec_clean_proc_node(PlanState *ps)
{
	GpuSortScanState *node = (GpuSortScanState *) ps;
	TupleTableSlot *slot = node->clean_slot;
	bool		forward = ScanDirectionIsForward(ps->state->es_direction);

	CHECK_FOR_INTERRUPTS();

	if (unlikely(!node->sorted) && !sort_input(node))
		return ExecClearTuple(slot);
	if (unlikely(node->result.cursor.tuplesort != NULL))
	{
		TupleTableSlot *row = node->css.ss.ss_ScanTupleSlot;

		if (!gpusort_result_fetch(&node->result, forward, row))
			return ExecClearTuple(slot);
		gpusort_store_tuple(slot, ((MinimalTupleTableSlot *) row)->mintuple);
		return slot;
	}
	return likely(gpusort_result_fetch(&node->result, forward, slot)) ? slot
		: ExecClearTuple(slot);
}

/* ExecProcNode for a node that fetches rows by TID. */
static TupleTableSlot *
exec_late_proc_node(PlanState *ps)
{
	GpuSortScanState *node = (GpuSortScanState *) ps;

	CHECK_FOR_INTERRUPTS();

	if (unlikely(!node->sorted) && !sort_input(node))
		return NULL;
	return gpusort_fetch_late(node->late, &node->result.cursor,
							  ScanDirectionIsForward(ps->state->es_direction));
}

/* Returns the scan of the table whose rows a late node returns.  Workers may execute it, too. */
static const ScanState *
table_scan(GpuSortScanState *node)
{
	PlanState  *child = outerPlanState(node);

	if (node->collect != NULL)
		child = gpusort_collect_input(node->collect);
	return &castNode(SeqScanState, child)->ss;
}

static void
begin_node(CustomScanState *css, int eflags)
{
	GpuSortScanState *node = (GpuSortScanState *) css;
	CustomScan *scan = (CustomScan *) css->ss.ps.plan;

	gpusort_nodes_begun++;
	gpusort_read_spec(scan, &node->spec);
	gpusort_read_spec(scan, &node->rows_spec);
	node->random_access = gpusort_is_random_access(eflags);
	node->context = AllocSetContextCreate(css->ss.ps.state->es_query_cxt, "GpuSort",
										  ALLOCSET_DEFAULT_SIZES);
	node->rows_desc = ExecGetResultType(outerPlanState(css));
	node->projections = gpusort_prepare_input(outerPlanState(css));
	node->collect = gpusort_find_collect(outerPlanState(node));
	if (gpusort_is_late(scan))
	{
		node->late = gpusort_begin_late(css, table_scan(node), node->context);
		css->ss.ps.ExecProcNode = exec_late_proc_node;
	}
}

/* The query needs no more rows, or none for now. */
static void
shutdown_node(CustomScanState *css)
{
	end_workers((GpuSortScanState *) css);
}

static void
release_rows(CustomScanState *css)
{
	GpuSortScanState *node = (GpuSortScanState *) css;

	clear_slots(node);
	end_workers(node);
}

/* Ends the sort.  The children have ended, so no worker puts rows into it any more. */
static void
end_sort(CustomScanState *css)
{
	GpuSortScanState *node = (GpuSortScanState *) css;

	if (node->sort != NULL)
		gpusort_end(node->sort);
	node->sort = NULL;
	MemoryContextDelete(node->context);
}

/*
 * Returns whether the rows that are wanted now are among those that were wanted, and therefore
 * kept, when the sort collected them.
 */
static bool
has_rows_wanted(const GpuSortScanState *node)
{
	uint64		wanted = rows_wanted(node);

	return node->bound == 0 || (wanted > 0 && wanted <= node->bound);
}

static void
rescan_node(CustomScanState *css)
{
	GpuSortScanState *node = (GpuSortScanState *) css;
	PlanState  *child = outerPlanState(node);

	/*
	 * there are no rows, or they were not collected yet: the child is rescanned when it is read, if
	 * need be
	 */
	if (!node->sorted)
	{
		node->empty = node->empty && child->chgParam == NULL;
		return;
	}
	clear_slots(node);

	if (child->chgParam == NULL && has_rows_wanted(node) && !gpusort_is_merged(node->sort) &&
		gpusort_result_can_rewind(&node->result, node->random_access))
	{
		gpusort_result_rewind(&node->result);
		return;
	}

	node->sorted = node->collected = false;
	end_workers(node);
	gpusort_reset(node->sort);
	if (child->chgParam == NULL)
		ExecReScan(child);
}

static void
mark_position(CustomScanState *css)
{
	GpuSortScanState *node = (GpuSortScanState *) css;

	if (node->sorted)
		gpusort_result_mark(&node->result);
}

static void
restore_position(CustomScanState *css)
{
	GpuSortScanState *node = (GpuSortScanState *) css;

	if (node->sorted)
		gpusort_result_restore(&node->result);
}

/* Explains that the last columns are left out of the rows returned. */
static void
explain_clean_rows(const GpuSortScanState *node, ExplainState *es)
{
	int			stored = node->rows_desc->natts;
	int			returned = node->clean_slot->tts_tupleDescriptor->natts;

	if (es->format == EXPLAIN_FORMAT_TEXT)
		ExplainPropertyText("Columns Returned", psprintf("%d of %d", returned, stored), es);
	else
		ExplainPropertyInteger("Columns Returned", NULL, returned, es);
}

static void
explain_node(CustomScanState *css, List *ancestors, ExplainState *es)
{
	GpuSortScanState *node = (GpuSortScanState *) css;
	GpuSortReport report;

	gpusort_explain_columns(css, &node->spec, node->spec.nkeys, "Sort Key", ancestors, es);
	if (node->late != NULL)
		ExplainPropertyText("Rows", "fetched by TID", es);
	if (es->verbose)
		gpusort_explain_encoding(css, &node->spec, es);
	if (es->verbose && node->clean_slot != NULL)
		explain_clean_rows(node, es);
	if (es->analyze && node->empty)
		gpusort_explain_no_rows(es);
	if (!es->analyze || !node->sorted)
		return;
	/* GpuSort Collect explains the rows that participants collect */
	if (node->collect == NULL)
	{
		gpusort_explain_from_pages(node->from_pages, es);
		gpusort_explain_calls_saved(gpusort_calls_saved(node->projections), es);
	}
	gpusort_make_report(node->sort, node->collect_time, &report);
	gpusort_explain_report(&report, es);
}

GpuSortNodeKind gpusort_sort_kind = {
	.methods = {
		.CustomName = GPUSORT_NODE,
		.ReScanCustomScan = rescan_node,
		.MarkPosCustomScan = mark_position,
		.RestrPosCustomScan = restore_position,
		.ShutdownCustomScan = shutdown_node,
		.ExplainCustomScan = explain_node
	},
	.state_bytes = sizeof(GpuSortScanState),
	.returns_scanned_rows = true,
	.begin = begin_node,
	.next = exec_proc_node,
	.release = release_rows,
	.end = end_sort
};
