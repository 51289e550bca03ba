/*
 * load_expressions.c
 *		The expressions of a table, as they are computed for each row, and whether they can be
 *		computed here; see load_values_private.h.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "optimizer/optimizer.h"
#include "rewrite/rewriteHandler.h"
#include "utils/lsyscache.h"

#include "load/load_statement_private.h"
#include "load/load_values_private.h"
#include "pg_compat/copy.h"

/* ---------- which they are ---------- */

/*
 * Returns an expression as the planner leaves it.  One whose planning would call functions of
 * others is returned as it is, and found not to be safe.
 */
static Node *
plan_expression(Node *expression)
{
	return gpusort_load_planning_is_safe(expression)
		? (Node *) expression_planner((Expr *) expression) : expression;
}

Node *
gpusort_load_plan_column(Relation table, AttrNumber attnum)
{
	Node	   *expression = build_column_default(table, attnum);

	return expression != NULL ? plan_expression(expression) : NULL;
}

List *
gpusort_load_list_checks(Relation table)
{
	TupleDesc	desc = RelationGetDescr(table);
	List	   *checks = NIL;
	ListCell   *lc;

	for (int i = 0; desc->constr != NULL && i < desc->constr->num_check; i++)
	{
		if (gpusort_check_is_enforced(&desc->constr->check[i]))
			checks =
				lappend(checks,
						gpusort_expand_virtual_columns(stringToNode(desc->constr->check[i].ccbin),
													   table));
	}
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);
		NullTest   *test;

		if (att->attisdropped || !att->attnotnull || !gpusort_column_is_virtual(att))
			continue;
		test = makeNode(NullTest);
		test->arg = (Expr *) gpusort_generation_expression(table, i + 1);
		test->nulltesttype = IS_NOT_NULL;
		test->location = -1;
		checks = lappend(checks, test);
	}
	foreach(lc, checks)
		lfirst(lc) = plan_expression(lfirst(lc));
	return checks;
}

/* ---------- whether they can be computed here ---------- */

static const char *
why_not_checks(Relation table, GpuSortLoadComputing *computing)
{
	List	   *checks;
	ListCell   *lc;

	/* a constraint that could not be read is an error, which PostgreSQL raises at the first row */
	if (RelationGetDescr(table)->constr != NULL &&
		RelationGetDescr(table)->constr->num_check != table->rd_rel->relchecks)
		return "constraints are missing";
	checks = gpusort_load_list_checks(table);
	computing->anything |= checks != NIL;
	foreach(lc, checks)
	{
		if (!gpusort_load_expression_is_safe(lfirst(lc)))
			return "a constraint has functions of others, or ones that depend on more than a row";
	}
	return NULL;
}

/*
 * Looks at the constraint of a table that is itself a partition: the partition keys above it must
 * be safe.
 */
static const char *
why_not_constraint(Relation table, GpuSortLoadComputing *computing)
{
	Node	   *constraint = gpusort_load_partition_constraint(table);

	computing->anything |= constraint != NULL;
	return constraint == NULL || gpusort_load_constraint_is_safe(constraint) ? NULL
		: "the table is a partition by functions of others";
}

static const char *
why_not_default(Relation table, Form_pg_attribute att, bool copied, GpuSortLoadComputing *computing)
{
	Node	   *expression = gpusort_load_plan_column(table, att->attnum);
	bool		sequence;

	if (expression == NULL)
		return NULL;
	if (!gpusort_load_default_is_safe(expression, &sequence) ||
		(sequence && (copied || gpusort_load_find_sequence(&expression) == NULL)))
		return psprintf("the default of column \"%s\" is no constant", NameStr(att->attname));
	computing->anything = true;
	computing->sequences |= sequence;
	return NULL;
}

static const char *
why_not_generated(Relation table, Form_pg_attribute att, GpuSortLoadComputing *computing)
{
	Node	   *expression = gpusort_column_is_virtual(att) ? NULL
		: gpusort_load_plan_column(table, att->attnum);

	if (gpusort_column_is_virtual(att) ? get_typtype(att->atttypid) == TYPTYPE_DOMAIN
		: expression == NULL || !gpusort_load_expression_is_safe(expression))
		return psprintf("generated column \"%s\" has functions of others, or a domain", NameStr(att->attname));
	computing->anything |= !gpusort_column_is_virtual(att);
	return NULL;
}

const char *
gpusort_load_why_not_stored(Relation table, GpuSortLoadComputing *computing)
{
	TupleDesc	desc = RelationGetDescr(table);

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);
		const char *why = NULL;

		if (!att->attisdropped && att->attgenerated != '\0')
			why = why_not_generated(table, att, computing);
		if (why != NULL)
			return why;
	}
	return why_not_checks(table, computing);
}

static const char *
why_not_column(Relation table, Form_pg_attribute att, List *attnums, bool marker,
			   GpuSortLoadComputing *computing)
{
	bool		copied = list_member_int(attnums, att->attnum);

	if (!att->attisdropped && att->attgenerated == '\0' && (marker || !copied))
		return why_not_default(table, att, copied, computing);
	return NULL;
}

const char *
gpusort_load_why_not_computed(Relation table, List *attnums, bool marker,
							  GpuSortLoadComputing *computing)
{
	TupleDesc	desc = RelationGetDescr(table);
	const char *why = NULL;

	for (int i = 0; i < desc->natts && why == NULL; i++)
		why = why_not_column(table, TupleDescAttr(desc, i), attnums, marker, computing);
	if (why == NULL)
		why = gpusort_load_why_not_stored(table, computing);
	return why != NULL ? why : why_not_constraint(table, computing);
}
