/*
 * load_computed.c
 *		What is computed for each row that is loaded; see load_values_private.h.
 *
 * The order is that of PostgreSQL's COPY: defaults, WHERE, generated columns, constraints.
 * Expressions run with a resource owner of their own.  This takes the place of a subtransaction,
 * which workers can't have: when one of the functions that are safe here fails, all it holds
 * belongs to this resource owner.
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "storage/lwlock.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

#include "load/load_statement_private.h"
#include "load/load_values_private.h"
#include "pg_compat/copy.h"

#define OWNER_NAME	"gpusort COPY expressions"

/* A column whose value is computed. */
typedef struct ComputedColumn
{
	int			attribute;
	Node	   *expression;
	ExprState  *state;
	bool		each_row;		/* computed for each row, and not once */
	bool		is_known;		/* it is computed once, and has been */
	GpuSortLoadValue value;

	Node	  **place;			/* where nextval() is in the expression; or NULL */
	ExprState  *next;			/* computes that call of nextval() */
	bool		is_asked;		/* nextval() was called for the current row */
	Datum		taken;
} ComputedColumn;

struct GpuSortLoadComputer
{
	TupleDesc	desc;
	ExprContext *context;
	TupleTableSlot *slot;
	ResourceOwner owner;
	ResourceOwner outer;		/* the caller's resource owner, while expressions run */
	Bitmapset  *inputs;			/* attributes in the expressions, as of pull_varattnos() */

	ExprState  *where;
	int			ndefaults;
	ComputedColumn *defaults;	/* of columns that are not copied */
	ComputedColumn *marked;		/* by attribute, of columns that are copied; or NULL */
	int			ngenerated;
	ComputedColumn *generated;
	int			nchecks;
	ExprState **checks;
};

/* ---------- beginning ---------- */

static ExprState *
begin_expression(GpuSortLoadComputer *computer, Node *expression)
{
	bool		sequence;

	/* a function may have been replaced since the leader has looked at the expression */
	if (!gpusort_load_default_is_safe(expression, &sequence))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("an expression of a table that is being loaded was changed")));
	pull_varattnos(expression, 1, &computer->inputs);
	return ExecInitExpr((Expr *) expression, NULL);
}

/*
 * Makes nextval() an expression of its own, so that its value is known before the rest of the
 * default is computed: if the rest fails, the row is left to PostgreSQL, which must not call
 * nextval() again.  In the default, a CaseTestExpr stands for the value; it is free for that, as
 * there is no CASE around it.
 */
static void
begin_sequence(GpuSortLoadComputer *computer, ComputedColumn *column)
{
	CaseTestExpr *taken = makeNode(CaseTestExpr);

	taken->typeId = exprType(*column->place);
	taken->typeMod = -1;
	column->next = begin_expression(computer, *column->place);
	*column->place = (Node *) taken;
}

static bool
begin_column(GpuSortLoadComputer *computer, Relation table, int attribute, ComputedColumn *column)
{
	column->expression = gpusort_load_plan_column(table, attribute + 1);
	if (column->expression == NULL)
		return false;
	column->attribute = attribute;
	column->place = gpusort_load_find_sequence(&column->expression);
	column->each_row = column->place != NULL ||
		TupleDescAttr(computer->desc, attribute)->attgenerated != '\0';
	if (column->place != NULL)
		begin_sequence(computer, column);
	column->state = begin_expression(computer, column->expression);
	return true;
}

static bool
is_copied(const GpuSortLoadTask *task, int attribute)
{
	for (int i = 0; i < task->nfields; i++)
	{
		if (task->fields[i].attnum == attribute + 1)
			return true;
	}
	return false;
}

static void
begin_columns(GpuSortLoadComputer *computer, const GpuSortLoadTask *task, Relation table,
			  GpuSortComputes what)
{
	int			natts = computer->desc->natts;

	computer->defaults = palloc0(natts * sizeof(ComputedColumn));
	computer->generated = palloc0(natts * sizeof(ComputedColumn));
	if (task->default_length > 0)
		computer->marked = palloc0(natts * sizeof(ComputedColumn));
	for (int i = 0; i < natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(computer->desc, i);

		if (att->attisdropped || gpusort_column_is_virtual(att))
			continue;
		if (att->attgenerated != '\0')
		{
			if (what != GPUSORT_COMPUTE_ROUTED)
				computer->ngenerated += begin_column(computer, table, i,
													 &computer->generated[computer->ngenerated]);
		}
		else if (what == GPUSORT_COMPUTE_STORED)
			continue;
		else if (!is_copied(task, i))
			computer->ndefaults += begin_column(computer, table, i,
												&computer->defaults[computer->ndefaults]);
		else if (computer->marked != NULL)
			begin_column(computer, table, i, &computer->marked[i]);
	}
}

static void
begin_checks(GpuSortLoadComputer *computer, Relation table)
{
	List	   *checks = gpusort_load_list_checks(table);
	ListCell   *lc;

	computer->checks = palloc((list_length(checks) + 1) * sizeof(ExprState *));
	foreach(lc, checks)
		computer->checks[computer->nchecks++] = begin_expression(computer, lfirst(lc));
}

/* Adds the constraint of the table that was named, if that is a partition. */
static void
begin_constraint(GpuSortLoadComputer *computer, Relation table)
{
	Node	   *constraint = gpusort_load_partition_constraint(table);

	if (constraint == NULL)
		return;
	pull_varattnos(constraint, 1, &computer->inputs);
	computer->checks[computer->nchecks++] = ExecInitExpr((Expr *) constraint, NULL);
}

static void
begin_where(GpuSortLoadComputer *computer, const GpuSortLoadTask *task)
{
	List	   *where;

	if (task->where == 0)
		return;
	where = stringToNode((const char *) task + task->where);
	pull_varattnos((Node *) where, 1, &computer->inputs);
	computer->where = ExecInitQual(where, NULL);
}

GpuSortLoadComputer *
gpusort_computer_begin(const GpuSortLoadTask *task, Relation table, GpuSortComputes what)
{
	GpuSortLoadComputer *computer;

	if (what == GPUSORT_COMPUTE_STORED ? RelationGetDescr(table)->constr == NULL : !task->computing)
		return NULL;
	computer = palloc0(sizeof(GpuSortLoadComputer));
	computer->desc = RelationGetDescr(table);
	computer->context = CreateStandaloneExprContext();
	computer->slot = MakeSingleTupleTableSlot(computer->desc, &TTSOpsVirtual);
	computer->context->ecxt_scantuple = computer->slot;
	computer->owner = ResourceOwnerCreate(CurrentResourceOwner, OWNER_NAME);
	begin_columns(computer, task, table, what);
	if (what != GPUSORT_COMPUTE_STORED)
		begin_where(computer, task);
	if (what != GPUSORT_COMPUTE_ROUTED)
		begin_checks(computer, table);
	if (what == GPUSORT_COMPUTE_ALL)
		begin_constraint(computer, table);
	ExecStoreAllNullTuple(computer->slot);
	return computer;
}

MemoryContext
gpusort_computer_row_context(GpuSortLoadComputer *computer)
{
	return computer->context->ecxt_per_tuple_memory;
}

/* ---------- values ---------- */

static Datum
text_datum(const GpuSortLoadValue *value)
{
	text	   *copy = palloc(VARHDRSZ + value->length);

	SET_VARSIZE(copy, VARHDRSZ + value->length);
	memcpy(VARDATA(copy), value->text, value->length);
	return PointerGetDatum(copy);
}

static void
show_value(GpuSortLoadComputer *computer, int attribute, const GpuSortLoadValue *value)
{
	TupleTableSlot *slot = computer->slot;

	slot->tts_isnull[attribute] = value->is_null;
	if (!value->is_null)
		slot->tts_values[attribute] = value->text != NULL ? text_datum(value) : value->datum;
}

/* Puts the values that expressions look at into the slot. */
static void
show_values(GpuSortLoadComputer *computer, const GpuSortLoadValue *values)
{
	int			member = -1;

	while ((member = bms_next_member(computer->inputs, member)) >= 0)
	{
		int			attribute = member + FirstLowInvalidHeapAttributeNumber - 1;

		show_value(computer, attribute, &values[attribute]);
	}
}

/* Computes the value of a column, in the context of the current row. */
static void
evaluate(GpuSortLoadComputer *computer, ComputedColumn *column)
{
	GpuSortLoadValue *value = &column->value;

	if (column->place != NULL)
	{
		column->taken = ExecEvalExpr(column->next, computer->context, &value->is_null);
		column->is_asked = true;
		computer->context->caseValue_datum = column->taken;
		computer->context->caseValue_isNull = false;
	}
	value->text = NULL;
	value->datum = ExecEvalExpr(column->state, computer->context, &value->is_null);
}

/*
 * Copies the value of a column into a context; this makes an expanded object flat, as stored ones
 * are.
 */
static void
copy_value(GpuSortLoadComputer *computer, ComputedColumn *column, MemoryContext context)
{
	Form_pg_attribute att = TupleDescAttr(computer->desc, column->attribute);
	MemoryContext old = MemoryContextSwitchTo(context);

	if (!column->value.is_null)
		column->value.datum = datumCopy(column->value.datum, att->attbyval, att->attlen);
	MemoryContextSwitchTo(old);
}

static const GpuSortLoadValue *
get_value(GpuSortLoadComputer *computer, ComputedColumn *column)
{
	if (column->each_row || !column->is_known)
	{
		evaluate(computer, column);
		copy_value(computer, column,
				   column->each_row ? CurrentMemoryContext : GetMemoryChunkContext(computer));
		column->is_known = true;
	}
	return &column->value;
}

/* ---------- a row ---------- */

static MemoryContext
enter(GpuSortLoadComputer *computer)
{
	computer->outer = CurrentResourceOwner;
	CurrentResourceOwner = computer->owner;
	return MemoryContextSwitchTo(computer->context->ecxt_per_tuple_memory);
}

static void
leave(GpuSortLoadComputer *computer, MemoryContext old)
{
	MemoryContextSwitchTo(old);
	CurrentResourceOwner = computer->outer;
	computer->outer = NULL;
}

bool
gpusort_compute_default(GpuSortLoadComputer *computer, int attribute, GpuSortLoadValue *value)
{
	ComputedColumn *column = &computer->marked[attribute];
	MemoryContext old;

	if (column->state == NULL)
		return false;
	old = enter(computer);
	*value = *get_value(computer, column);
	leave(computer, old);
	return true;
}

static void
compute_columns(GpuSortLoadComputer *computer, ComputedColumn *columns, int count,
				GpuSortLoadValue *values)
{
	for (int i = 0; i < count; i++)
		values[columns[i].attribute] = *get_value(computer, &columns[i]);
}

static bool
checks_pass(GpuSortLoadComputer *computer)
{
	for (int i = 0; i < computer->nchecks; i++)
	{
		if (!ExecCheck(computer->checks[i], computer->context))
			return false;
	}
	return true;
}

static GpuSortComputed
compute(GpuSortLoadComputer *computer, GpuSortLoadValue *values)
{
	compute_columns(computer, computer->defaults, computer->ndefaults, values);
	show_values(computer, values);
	if (computer->where != NULL && !ExecQual(computer->where, computer->context))
		return GPUSORT_COMPUTED_EXCLUDED;
	compute_columns(computer, computer->generated, computer->ngenerated, values);
	for (int i = 0; i < computer->ngenerated; i++)
		show_value(computer, computer->generated[i].attribute, &computer->generated[i].value);
	return checks_pass(computer) ? GPUSORT_COMPUTED : GPUSORT_COMPUTED_REFUSED;
}

GpuSortComputed
gpusort_compute_row(GpuSortLoadComputer *computer, GpuSortLoadValue *values)
{
	MemoryContext old = enter(computer);
	GpuSortComputed computed = compute(computer, values);

	leave(computer, old);
	return computed;
}

void
gpusort_computer_finish_row(GpuSortLoadComputer *computer)
{
	for (int i = 0; i < computer->ndefaults; i++)
		computer->defaults[i].is_asked = false;
}

void
gpusort_computer_hand_over(const GpuSortLoadComputer *computer, CopyFromState copy)
{
	for (int i = 0; i < computer->ndefaults; i++)
	{
		const ComputedColumn *column = &computer->defaults[i];
		Oid			type;

		if (!column->is_asked)
			continue;
		type = exprType(*column->place);
		*column->place =
			(Node *) makeConst(type, -1, InvalidOid, get_typlen(type), column->taken, false, true);
		*gpusort_copy_default(copy, column->attribute) =
			ExecInitExpr((Expr *) column->expression, NULL);
	}
}

/* ---------- ending ---------- */

static void
release(GpuSortLoadComputer *computer, bool success)
{
	ResourceOwnerRelease(computer->owner, RESOURCE_RELEASE_BEFORE_LOCKS, success, false);
	ResourceOwnerRelease(computer->owner, RESOURCE_RELEASE_LOCKS, success, false);
	ResourceOwnerRelease(computer->owner, RESOURCE_RELEASE_AFTER_LOCKS, success, false);
}

void
gpusort_computer_recover(GpuSortLoadComputer *computer)
{
	if (computer == NULL || computer->outer == NULL)
		return;
	CurrentResourceOwner = computer->outer;
	computer->outer = NULL;
	/*
	 * nextval() raises the error that a sequence has no next value with the sequence's page locked;
	 * this process holds no other LWLocks here
	 */
	LWLockReleaseAll();
	release(computer, false);
	ResourceOwnerDelete(computer->owner);
	computer->owner = ResourceOwnerCreate(CurrentResourceOwner, OWNER_NAME);
}

void
gpusort_computer_end(GpuSortLoadComputer *computer)
{
	if (computer == NULL)
		return;
	release(computer, true);
	ResourceOwnerDelete(computer->owner);
	ExecDropSingleTupleTableSlot(computer->slot);
	FreeExprContext(computer->context, true);
}
