/*
 * load_tree.c
 *		Partitioned tables, and whether rows can be routed to all of their partitions here; see
 *		load_statement_private.h.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "access/xact.h"
#include "catalog/partition.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_partitioned_table.h"
#include "commands/trigger.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "partitioning/partdesc.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/partcache.h"
#include "utils/syscache.h"

#include "load/load_statement_private.h"
#include "settings.h"

/* ---------- partition keys ---------- */

/*
 * Returns whether a key's expression calls only the server's functions, and has a type that only
 * these compare.
 */
static bool
key_expression_is_safe(Node *expression)
{
	if (!gpusort_load_planning_is_safe(expression))
		return false;
	expression = (Node *) expression_planner((Expr *) expression);
	return gpusort_load_expression_is_safe(expression) &&
		gpusort_load_comparison_is_safe(exprType(expression));
}

static List *
get_expressions(HeapTuple tuple)
{
	bool		is_null;
	Datum		value =
		SysCacheGetAttr(PARTRELID, tuple, Anum_pg_partitioned_table_partexprs, &is_null);

	return is_null ? NIL : castNode(List, stringToNode(TextDatumGetCString(value)));
}

static bool
columns_are_safe(Oid table, const Form_pg_partitioned_table form, List *expressions)
{
	ListCell   *expression = list_head(expressions);

	for (int i = 0; i < form->partnatts; i++)
	{
		AttrNumber	attnum = form->partattrs.values[i];

		if (attnum == 0)
		{
			if (!key_expression_is_safe(lfirst(expression)))
				return false;
			expression = lnext(expressions, expression);
		}
		else if (attnum < 0 || !gpusort_load_comparison_is_safe(get_atttype(table, attnum)))
			return false;
	}
	return true;
}

static bool
classes_are_plain(HeapTuple tuple)
{
	bool		is_null;
	oidvector  *classes = (oidvector *)
		DatumGetPointer(SysCacheGetAttr(PARTRELID, tuple, Anum_pg_partitioned_table_partclass,
										&is_null));

	for (int i = 0; i < classes->dim1; i++)
	{
		if (classes->values[i] >= FirstNormalObjectId)
			return false;
	}
	return true;
}

/*
 * Returns whether a table's partition key is safe.  The key is taken from the catalog and not from
 * the table, which need not be locked for this.
 */
static bool
key_is_safe(Oid table)
{
	HeapTuple	tuple = SearchSysCache1(PARTRELID, ObjectIdGetDatum(table));
	bool		safe;

	if (!HeapTupleIsValid(tuple))
		return false;
	safe = classes_are_plain(tuple) &&
		columns_are_safe(table, (Form_pg_partitioned_table) GETSTRUCT(tuple),
						 get_expressions(tuple));
	ReleaseSysCache(tuple);
	return safe;
}

/* ---------- constraints ---------- */

Node *
gpusort_load_partition_constraint(Relation table)
{
	List	   *constraint = table->rd_rel->relispartition ? RelationGetPartitionQual(table) : NIL;
	Node	   *expression;

	if (constraint == NIL)
		return NULL;
	expression = (Node *) make_ands_explicit(copyObject(constraint));
	return gpusort_load_planning_is_safe(expression)
		? (Node *) expression_planner((Expr *) expression) : expression;
}

bool
gpusort_load_has_triggers(Relation table)
{
	const TriggerDesc *triggers = table->trigdesc;

	return triggers != NULL &&
		(triggers->trig_insert_before_row || triggers->trig_insert_after_row ||
		 triggers->trig_insert_instead_row || triggers->trig_insert_before_statement ||
		 triggers->trig_insert_after_statement || triggers->trig_insert_new_table);
}

const char *
gpusort_load_why_not_routed(Relation table)
{
	bool		is_partitioned = table->rd_rel->relkind == RELKIND_PARTITIONED_TABLE;
	List	   *ancestors = table->rd_rel->relispartition
		? get_partition_ancestors(RelationGetRelid(table)) : NIL;
	ListCell   *lc;

	if (is_partitioned && !key_is_safe(RelationGetRelid(table)))
		return "the table is partitioned by functions or types of others";
	/* the constraint of a hash partition calls the functions in its parent's key */
	foreach(lc, ancestors)
	{
		if (!key_is_safe(lfirst_oid(lc)))
			return "the table is a partition by functions or types of others";
	}
	return NULL;
}

/* ---------- what is below a table ---------- */

static const char *why_not_children(List *children, GpuSortLoadTree *tree);

/* A table that has got a new file in this transaction has got a new row in pg_class. */
static inline bool
may_be_new(HeapTuple tuple)
{
	return TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetXmin(tuple->t_data));
}

/*
 * Returns whether a leaf's indexes might be built afterwards, as far as the catalog tells.  Other
 * leaves are not locked, and need not be opened.
 */
static bool
may_be_empty(HeapTuple tuple)
{
	const FormData_pg_class *form = (const FormData_pg_class *) GETSTRUCT(tuple);

	switch (gpusort_copy_indexes)
	{
		case GPUSORT_COPY_INDEXES_ONLY_NEW:
		case GPUSORT_COPY_INDEXES_NEW:
			return may_be_new(tuple);
		case GPUSORT_COPY_INDEXES_EMPTY:
			return may_be_new(tuple) || form->relpages <= 0;
		default:
			return false;
	}
}

static bool
setting_leaves_indexes(HeapTuple tuple)
{
	const FormData_pg_class *form = (const FormData_pg_class *) GETSTRUCT(tuple);

	return gpusort_copy_indexes == GPUSORT_COPY_INDEXES_OFF ||
		(gpusort_copy_indexes == GPUSORT_COPY_INDEXES_ONLY_NEW &&
		 form->relpersistence != RELPERSISTENCE_TEMP && !may_be_new(tuple));
}

/* Looks at a partition that is not partitioned itself. */
static const char *
why_not_leaf(HeapTuple tuple, GpuSortLoadTree *tree)
{
	const FormData_pg_class *form = (const FormData_pg_class *) GETSTRUCT(tuple);

	if (form->relkind != RELKIND_RELATION)
		return "a partition is a foreign table";
	if (form->relam != HEAP_TABLE_AM_OID)
		return "a partition has another access method than heap";
	if (form->relhasindex && setting_leaves_indexes(tuple))
		return "a partition has indexes";
	if (form->relhastriggers)
		return "a partition has triggers";
	if (form->relhasindex)
		tree->indexed = lappend_oid(tree->indexed, form->oid);
	if (form->relhasindex && may_be_empty(tuple))
		tree->maybe_empty = lappend_oid(tree->maybe_empty, form->oid);
	return NULL;
}

static const char *
why_not_child(Oid child, GpuSortLoadTree *tree)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(child));
	const char *why = NULL;
	bool		is_partitioned;

	if (!HeapTupleIsValid(tuple))
		return "a partition is gone";
	is_partitioned = ((Form_pg_class) GETSTRUCT(tuple))->relkind == RELKIND_PARTITIONED_TABLE;
	if (!is_partitioned)
		why = why_not_leaf(tuple, tree);
	ReleaseSysCache(tuple);
	tree->count++;
	if (!is_partitioned)
		return why;
	if (!key_is_safe(child))
		return "a partition is partitioned by functions or types of others";
	return why_not_children(find_inheritance_children(child, NoLock), tree);
}

static const char *
why_not_children(List *children, GpuSortLoadTree *tree)
{
	ListCell   *lc;

	check_stack_depth();
	foreach(lc, children)
	{
		const char *why = why_not_child(lfirst_oid(lc), tree);

		if (why != NULL)
			return why;
	}
	return NULL;
}

const char *
gpusort_load_why_not_partitions(Relation table, GpuSortLoadTree *tree)
{
	PartitionDesc partitions = RelationGetPartitionDesc(table, !IsolationUsesXactSnapshot());
	List	   *children = NIL;

	for (int i = 0; i < partitions->nparts; i++)
		children = lappend_oid(children, partitions->oids[i]);
	memset(tree, 0, sizeof(*tree));
	return why_not_children(children, tree);
}
