/*
 * insert_hook.c
 *		How INSERT ... SELECT gets here; see insert_hook.h.
 *
 * ModifyTable stays as it is.  It asks the node below for the first row after permissions were
 * checked and statement triggers fired, and before it has done anything about rows.  That node, or
 * the node below it if it is a projection, is given another ExecProcNode function before.  This
 * function fetches the first row.  If the row comes from a sort of ours, the function puts this and
 * all other rows into the table, and returns that there are none; otherwise it returns the row, and
 * the node has its own function again.
 */
#include "postgres.h"

#include "access/xact.h"
#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "storage/predicate.h"
#include "utils/rel.h"

#include "exec/exec_junk.h"
#include "exec/exec_sort.h"
#include "heap/heap_space.h"
#include "into/insert_hook.h"
#include "into/insert_table.h"
#include "into/into_workers.h"
#include "pg_compat/executor.h"
#include "settings.h"
#include "sort/sort_fetch.h"

/* An INSERT that has been started, and whose input has not been asked for rows yet. */
typedef struct Insert
{
	QueryDesc  *query;
	PlanState  *input;			/* ModifyTable's input, or the one of the projection there */
	ExecProcNodeMtd input_function;
	struct Insert *outer;		/* the INSERT during which this one has begun, or NULL */
} Insert;

static Insert *innermost = NULL;

/* ---------- the plan ---------- */

static bool
is_projection(const PlanState *input)
{
	return IsA(input, SubqueryScanState) && input->qual == NULL;
}

/* Returns the node that returns the rows in the order of the sort. */
static PlanState *
find_input(const ModifyTableState *modify)
{
	PlanState  *below = outerPlanState(modify);

	return is_projection(below) ? ((SubqueryScanState *) below)->subplan : below;
}

bool
gpusort_insert_is_ours(const QueryDesc *query, ScanDirection direction)
{
	const ModifyTableState *modify = (ModifyTableState *) query->planstate;
	const ModifyTable *plan;

	if (modify == NULL || !IsA(modify, ModifyTableState) ||
		!ScanDirectionIsForward(direction) || !gpusort_enabled || !gpusort_enable_insert ||
		!gpusort_is_sort(gpusort_returning_node(find_input(modify))))
		return false;
	plan = (ModifyTable *) modify->ps.plan;
	return modify->operation == CMD_INSERT && plan->onConflictAction == ONCONFLICT_NONE &&
		plan->returningLists == NIL && modify->mt_nrels == 1 && modify->canSetTag &&
		modify->mt_partition_tuple_routing == NULL && modify->mt_transition_capture == NULL &&
		query->instrument_options == 0;
}

/* Returns whether the columns are those of the table, with the same types, and no others. */
static bool
columns_fit(Relation table, const List *tlist)
{
	TupleDesc	desc = RelationGetDescr(table);
	ListCell   *lc;
	int			i = 0;

	if (list_length(tlist) != desc->natts)
		return false;
	foreach(lc, tlist)
	{
		const TargetEntry *column = lfirst_node(TargetEntry, lc);
		Form_pg_attribute attribute = TupleDescAttr(desc, i++);

		if (column->resjunk ||
			(!attribute->attisdropped && exprType((Node *) column->expr) != attribute->atttypid))
			return false;
	}
	return true;
}

/* ---------- rows ---------- */

static uint64
put_rows(GpuSortIntoTarget *target, const GpuSortReturned *rows)
{
	CheckForSerializableConflictIn(target->table, NULL, InvalidBlockNumber);
	target->header.xmin = GetCurrentTransactionId();
	target->header.cmin = target->estate->es_output_cid;
	gpusort_into_write(target, rows);
	CheckForSerializableConflictIn(target->table, NULL, InvalidBlockNumber);
	return rows->to - rows->from;
}

/*
 * Inserts the row that the input has just returned, and all others.  Returns false if PostgreSQL
 * has to insert them, and nothing was done.
 */
static bool
insert_all(const Insert *insert)
{
	EState	   *estate = insert->query->estate;
	ModifyTableState *modify = (ModifyTableState *) insert->query->planstate;
	ResultRelInfo *table = modify->resultRelInfo;
	PlanState  *below = outerPlanState(modify);
	List	   *tlist = below->plan->targetlist;
	GpuSortIntoTarget target = {.estate = estate};
	GpuSortReturned rows;

	if (!gpusort_returned_rows(gpusort_returning_node(insert->input), &rows) ||
		gpusort_into_are_few(&rows) || !columns_fit(table->ri_RelationDesc, tlist) ||
		!gpusort_insert_target(table, is_projection(below) ? tlist : NIL, &target) ||
		(target.in_use && gpusort_heap_has_space(target.table,
												 (double) gpusort_row_bytes(rows.sort) *
												 (rows.to - rows.from))))
		return false;
	estate->es_processed += put_rows(&target, &rows);
	return true;
}

/* Answers for the input when it is asked for its first row. */
static TupleTableSlot *
first_row(PlanState *input)
{
	Insert	   *insert = innermost;
	TupleTableSlot *slot;

	while (insert->input != input)
		insert = insert->outer;
	ExecSetExecProcNode(input, insert->input_function);
	slot = ExecProcNode(input);
	if (TupIsNull(slot) || !insert_all(insert))
		return slot;
	return ExecClearTuple(slot);
}

/* ---------- the run ---------- */

void
gpusort_run_insert(ExecutorRun_hook_type executor, GPUSORT_EXECUTOR_RUN_PARAMETERS)
{
	Insert		insert = {.query = query,.outer = innermost};

	insert.input = find_input((ModifyTableState *) query->planstate);
	insert.input_function = insert.input->ExecProcNodeReal;
	gpusort_tell_viewed(gpusort_returning_node(insert.input));
	ExecSetExecProcNode(insert.input, first_row);
	innermost = &insert;
	PG_TRY();
	{
		executor(GPUSORT_EXECUTOR_RUN_ARGUMENTS);
	}
	PG_FINALLY();
	{
		innermost = insert.outer;
	}
	PG_END_TRY();
}
