/*
 * insert_table.c
 *		Tables that an INSERT may fill by whole pages; see insert_table.h.
 *
 * A table is not filled by whole pages if PostgreSQL does more for each row than to compute, check
 * and store it.  Nor is it if something that is computed could look at the table meanwhile, or
 * write to it: volatile functions may do that, except nextval().
 */
#include "postgres.h"

#include "access/heapam.h"
#include "catalog/catalog.h"
#include "catalog/pg_class.h"
#include "catalog/pg_proc.h"
#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/partcache.h"
#include "utils/rel.h"

#include "into/insert_table.h"
#include "pg_compat/tables.h"

/* ---------- expressions ---------- */

static bool
function_is_refused(Oid function, void *context)
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
		check_functions_in_node(node, function_is_refused, context))
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

bool
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
