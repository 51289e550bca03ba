/*
 * insert_hook.c
 *		How INSERT ... SELECT gets here; see into.h.
 *
 * ModifyTable stays as it is.  It asks the node below for the first row after permissions were
 * checked and statement triggers fired, and before it has done anything about rows.  That node, or
 * the node below it if it is a projection, is given another ExecProcNode function before.  This
 * function fetches the first row.  If the row comes from a sort of ours, the function puts this and
 * all other rows into the table, and returns that there are none; otherwise it returns the row, and
 * the node has its own function again.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/xact.h"
#include "catalog/catalog.h"
#include "catalog/pg_class.h"
#include "catalog/pg_proc.h"
#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "storage/predicate.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/partcache.h"
#include "utils/rel.h"

#include "exec/exec.h"
#include "into/into.h"
#include "into/into_private.h"
#include "pg_compat/executor.h"
#include "pg_compat/tables.h"
#include "settings.h"
#include "sort/sort.h"
#include "table/table.h"

/* An INSERT that has been started, and whose input has not been asked for rows yet. */
typedef struct Insert
{
	QueryDesc  *query;
	PlanState  *input;			/* ModifyTable's input, or the one of the projection there */
	ExecProcNodeMtd input_function;
	struct Insert *outer;		/* the INSERT during which this one has begun, or NULL */
} Insert;

static Insert *innermost = NULL;

/* ---------- tables that an INSERT may fill by whole pages ---------- */

/*
 * A table is not filled by whole pages if PostgreSQL does more for each row than to compute, check
 * and store it.  Nor is it if something that is computed could look at the table meanwhile, or
 * write to it: volatile functions may do that, except nextval().
 */

static bool
note_function(Oid function, void *context)
{
	if (func_parallel(function) != PROPARALLEL_SAFE)
		((GpuSortIntoTarget *) context)->by_leader = true;
	return func_volatile(function) == PROVOLATILE_VOLATILE && function != F_NEXTVAL;
}

/*
 * Returns whether evaluating a node calls no function: neither one that can be seen in the
 * expression, nor one that belongs to a type and is called by such a function.
 */
static bool
is_plain_value(const Node *node)
{
	return IsA(node, List) || IsA(node, TargetEntry) || IsA(node, Var) || IsA(node, Const) ||
		IsA(node, RelabelType);
}

/*
 * Returns whether an expression keeps the INSERT from filling the table by whole pages.
 *
 * Functions that are not volatile may look at the table, too, whatever they are declared.  They see
 * no rows of this command, but they would leave pages in shared buffers that have not been written
 * yet.  So if there is any function, all pages go through shared buffers, as if the table were in
 * use.  Expressions with domains are refused, because the constraints of a domain can't be seen
 * here, and so are references to whole rows, because a row of the result may have more columns,
 * which are only sorted by.
 */
static bool
expression_is_refused(Node *node, void *context)
{
	GpuSortIntoTarget *target = context;

	if (node == NULL)
		return false;
	if (IsA(node, SubPlan) || IsA(node, AlternativeSubPlan) || IsA(node, CoerceToDomain) ||
		(IsA(node, Var) && ((Var *) node)->varattno == InvalidAttrNumber) ||
		check_functions_in_node(node, note_function, context))
		return true;
	if (IsA(node, Param) || IsA(node, NextValueExpr))
		target->by_leader = true;
	if (!is_plain_value(node))
		target->in_use = true;
	return expression_tree_walker(node, expression_is_refused, context);
}

static bool
constraints_are_refused(Relation table, GpuSortIntoTarget *target)
{
	const TupleConstr *constraints = RelationGetDescr(table)->constr;

	if (table->rd_rel->relispartition &&
		expression_is_refused((Node *) RelationGetPartitionQual(table), target))
		return true;
	for (int i = 0; constraints != NULL && i < constraints->num_check; i++)
	{
		/* planned, so that the defaults of functions' arguments are in it */
		Expr	   *check = expression_planner(stringToNode(constraints->check[i].ccbin));

		if (expression_is_refused((Node *) check, target))
			return true;
	}
	return false;
}

/* ---------- the table ---------- */

static bool
has_row_triggers(const TriggerDesc *triggers)
{
	return triggers != NULL &&
		(triggers->trig_insert_before_row || triggers->trig_insert_after_row ||
		 triggers->trig_insert_instead_row || triggers->trig_insert_new_table);
}

static bool
has_generated_columns(TupleDesc desc)
{
	for (int i = 0; i < desc->natts; i++)
	{
		if (TupleDescAttr(desc, i)->attgenerated != '\0')
			return true;
	}
	return false;
}

static bool
table_is_plain(Relation table)
{
	return table->rd_rel->relkind == RELKIND_RELATION &&
		table->rd_tableam == GetHeapamTableAmRoutine() && !IsCatalogRelation(table) &&
		!RelationIsUsedAsCatalogTable(table) && !RELATION_IS_OTHER_TEMP(table) &&
		!has_generated_columns(RelationGetDescr(table)) && RelationGetIndexList(table) == NIL;
}

static bool
has_constraints(Relation table)
{
	const TupleConstr *constraints = RelationGetDescr(table)->constr;

	return table->rd_rel->relispartition ||
		(constraints != NULL && (constraints->has_not_null || constraints->num_check > 0));
}

/*
 * Returns whether nobody else can see the table, nobody has written to it, and nobody will decode
 * it from WAL, which will have pages and not rows.
 */
static bool
is_untouched(Relation table)
{
	return gpusort_relation_is_new(table) && !RelationIsLogicallyLogged(table) &&
		RelationGetNumberOfBlocks(table) == 0;
}

/*
 * Fills *target for the table of an INSERT, and returns true; returns false if rows have to be
 * inserted one by one.  "columns" computes the table's columns from those of the result, or is NIL
 * if they are the same.
 */
static bool
gpusort_insert_target(ResultRelInfo *insert, List *columns, GpuSortIntoTarget *target)
{
	Relation	table = insert->ri_RelationDesc;

	if (insert->ri_FdwRoutine != NULL || insert->ri_WithCheckOptions != NIL ||
		has_row_triggers(insert->ri_TrigDesc) || !table_is_plain(table) ||
		expression_is_refused((Node *) columns, target) ||
		constraints_are_refused(table, target))
		return false;
	target->table = table;
	target->relid = insert->ri_RangeTableIndex;
	target->columns = columns;
	target->checked = has_constraints(table);
	target->in_use |= !is_untouched(table);
	return true;
}

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
	target->owner.xid = GetCurrentTransactionId();
	target->owner.cid = target->estate->es_output_cid;
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
		(target.in_use &&
		 gpusort_table_has_space(target.table,
								 (double) gpusort_row_bytes(rows.sort) * (rows.to - rows.from))))
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
gpusort_into_run_insert(ExecutorRun_hook_type executor, GPUSORT_EXECUTOR_RUN_PARAMETERS)
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
