/*
 * advise.c
 *		gpusort_advise(): which sorts of a query are taken over, which are not, and which setting
 *		would change that.
 *
 * The query is planned twice, with the current settings and without gpusort, but never executed.
 * The caller needs the privileges that EXPLAIN of the query needs.  Of a command that has a query
 * in it, that query is planned as the command would have it planned.
 *
 * CREATE INDEX is not planned.  Whether its build would be taken over is asked of each table that
 * gets an index, and the caller must own the table, as for the command.  Its expressions are not
 * evaluated for any row, but the owner must have the right to.
 */
#include "postgres.h"

#include <math.h>

#include "access/table.h"
#include "catalog/namespace.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "commands/tablecmds.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/extensible.h"
#include "nodes/nodeFuncs.h"
#include "nodes/params.h"
#include "optimizer/optimizer.h"
#include "parser/parse_utilcmd.h"
#include "tcop/tcopprot.h"
#include "tcop/utility.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"
#include "utils/snapmgr.h"
#include "utils/tuplestore.h"

#include "exec/explain_private.h"
#include "index/index.h"
#include "pg_compat/executor.h"
#include "plan/plan.h"

PGDLLEXPORT Datum gpusort_advise(PG_FUNCTION_ARGS);

PG_FUNCTION_INFO_V1(gpusort_advise);

enum
{
	ADVICE_NODE,
	ADVICE_KIND,
	ADVICE_SORT_KEY,
	ADVICE_ROWS,
	ADVICE_TAKEN_OVER,
	ADVICE_REASON,
	ADVICE_SETTING,
	ADVICE_QUERY_GAIN,
	ADVICE_SORT_GAIN,
	ADVICE_QUERY_COST_WITHOUT,
	ADVICE_QUERY_COST,
	ADVICE_SORT_COST_WITHOUT,
	ADVICE_SORT_COST,
	ADVICE_COLUMNS
};

/* What is asked about. */
typedef struct Question
{
	const char *text;
	RawStmt    *statement;		/* a query, an INDEX statement, or what can't be advised about */
	int			cursor_options; /* with which its query is planned */
	ParamListInfo parameters;	/* $1 and so on, all null; NULL: there are none */
} Question;

/* Returns the SELECT that the INTO of a SELECT stands in. */
static SelectStmt *
leftmost_select(SelectStmt *select)
{
	while (select->op != SETOP_NONE)
		select = select->larg;
	return select;
}

/*
 * Replaces EXPLAIN, CREATE TABLE AS and the like, COPY (query) TO and DECLARE CURSOR by the
 * statement within.
 */
static void
unwrap(Question *question)
{
	Node	   *statement = question->statement->stmt;
	Node	   *within = NULL;

	switch (nodeTag(statement))
	{
		case T_ExplainStmt:
			within = ((const ExplainStmt *) statement)->query;
			break;
		case T_CreateTableAsStmt:
			within = ((const CreateTableAsStmt *) statement)->query;
			break;
		case T_CopyStmt:
			within = ((const CopyStmt *) statement)->query;
			break;
		case T_DeclareCursorStmt:
			question->cursor_options = ((const DeclareCursorStmt *) statement)->options;
			within = ((const DeclareCursorStmt *) statement)->query;
			break;
		case T_SelectStmt:
			leftmost_select((SelectStmt *) statement)->intoClause = NULL;
			break;
		default:
			break;
	}
	if (within == NULL)
		return;
	question->statement->stmt = within;
	unwrap(question);
}

/* Parses a text, which must be a single statement. */
static Question
parse_one(const char *text)
{
	List	   *statements = pg_parse_query(text);
	Question	question = {.text = text, .cursor_options = CURSOR_OPT_PARALLEL_OK};

	if (list_length(statements) != 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("gpusort_advise() wants one statement, not %d", list_length(statements))));
	question.statement = linitial_node(RawStmt, statements);
	unwrap(&question);
	return question;
}

/*
 * Raises an error if the statement itself is a utility command.  Utility commands that a rule adds
 * to it are left out by advise().
 */
static void
refuse_utility(const Query *query)
{
	if (query->commandType != CMD_UTILITY || !query->canSetTag)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("gpusort_advise() is for statements that are planned, not for %s",
					GetCommandTagName(CreateCommandTag(query->utilityStmt))),
			 errhint("If the command contains a query, ask for the query alone.")));
}

/* Returns parameters of these types, without values. */
static ParamListInfo
null_parameters(const Oid *types, int ntypes)
{
	ParamListInfo parameters = ntypes > 0 ? makeParamList(ntypes) : NULL;

	for (int i = 0; i < ntypes; i++)
		parameters->params[i] = (ParamExternData) {
			.isnull = true,.ptype = types[i]
		};
	return parameters;
}

/* Returns the queries that the statement is rewritten to.  It may have parameters $1 and so on. */
static List *
analyze(Question *question)
{
	Oid		   *types = NULL;
	int			ntypes = 0;
	List	   *queries = pg_analyze_and_rewrite_varparams(question->statement, question->text,
														   &types, &ntypes, NULL);
	ListCell   *lc;

	for (int i = 0; i < ntypes; i++)
	{
		if (types[i] == InvalidOid || types[i] == UNKNOWNOID)
			ereport(ERROR,
					(errcode(ERRCODE_INDETERMINATE_DATATYPE),
					 errmsg("could not determine data type of parameter $%d", i + 1)));
	}
	foreach(lc, queries)
		refuse_utility(lfirst_node(Query, lc));
	question->parameters = null_parameters(types, ntypes);
	return queries;
}

static List *
plan(List *queries, const Question *question)
{
	return pg_plan_queries(copyObject(queries), question->text, question->cursor_options, NULL);
}

/* Plans the queries without gpusort. */
static List *
plan_without(List *queries, const Question *question)
{
	int			nest_level = NewGUCNestLevel();
	List	   *plans;

	(void) set_config_option("gpusort.enabled", "off", PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
	plans = plan(queries, question);
	AtEOXact_GUC(true, nest_level);
	return plans;
}

static const char *
node_name(const Plan *node)
{
	switch (nodeTag(node))
	{
		case T_Sort:
			return "Sort";
		case T_IncrementalSort:
			return "Incremental Sort";
		case T_MergeAppend:
			return "Merge Append";
		case T_HashJoin:
			return "Hash Join";
		case T_SetOp:
			return "SetOp";
		case T_RecursiveUnion:
			return "Recursive Union";
		case T_CustomScan:
			return ((const CustomScan *) node)->methods->CustomName;
		default:
			return "Aggregate";
	}
}

static List *
deparse_context(PlannedStmt *stmt)
{
	Bitmapset  *all = NULL;

	for (int i = 1; i <= list_length(stmt->rtable); i++)
		all = bms_add_member(all, i);
	return deparse_context_for_plan_tree(stmt, select_rtable_names_for_explain(stmt->rtable, all));
}

static char *
sort_key(PlannedStmt *stmt, List *context, const GpuSortLook *look)
{
	const Sort *sort = look->sort;
	GpuSortSpec spec = {
		.nkeys = sort->numCols,
		.attnos = sort->sortColIdx,
		.sortops = sort->sortOperators,
		.collations = sort->collations,
		.nulls_first = sort->nullsFirst
	};
	StringInfoData text;
	ListCell   *lc;

	initStringInfo(&text);
	context = set_deparse_context_plan(context, unconstify(Plan *, look->plan), NIL);
	foreach(lc, gpusort_describe_sort(look->plan, &spec, spec.nkeys, context,
									  list_length(stmt->rtable) > 1))
		appendStringInfo(&text, "%s%s", text.len > 0 ? ", " : "", (const char *) lfirst(lc));
	return text.data;
}

/* Sets a text value, which is null if `text` is NULL. */
static void
put_text(Datum *value, bool *null, const char *text)
{
	*null = text == NULL;
	if (text != NULL)
		*value = CStringGetTextDatum(text);
}

/* Sets how many times less the second cost is than the first, to about two digits. */
static void
put_gain(Datum *value, bool *null, Cost without, Cost with)
{
	double		gain = with > 0 ? without / with : 0;

	*null = with <= 0;
	*value = Float8GetDatum(gain < 9.95 ? rint(gain * 10) / 10 : rint(gain));
}

/* Sets a cost, with as many digits as EXPLAIN shows. */
static void
put_cost(Datum *value, bool *null, Cost cost)
{
	*null = false;
	*value = Float8GetDatum(rint(cost * 100) / 100);
}

/* The costs of a whole query. */
typedef struct QueryCosts
{
	Cost		without;
	Cost		with;
} QueryCosts;

static void
put_advice(ReturnSetInfo *rsinfo, PlannedStmt *stmt, const QueryCosts *costs, List *context,
		   const GpuSortLook *look)
{
	const Plan *input = look->sort != NULL ? look->plan : look->plan->lefttree;
	Datum		values[ADVICE_COLUMNS] = {
		[ADVICE_NODE] = CStringGetTextDatum(node_name(look->plan)),
		[ADVICE_KIND] = CStringGetTextDatum(gpusort_kind_name(look->kind)),
		[ADVICE_ROWS] = Float8GetDatum(input->plan_rows),
		[ADVICE_TAKEN_OVER] = BoolGetDatum(look->reason == NULL),
	};
	bool		nulls[ADVICE_COLUMNS] = {
		[ADVICE_SORT_GAIN] = true,
		[ADVICE_SORT_COST_WITHOUT] = true,
		[ADVICE_SORT_COST] = true,
	};

	put_text(&values[ADVICE_SORT_KEY], &nulls[ADVICE_SORT_KEY],
			 look->sort != NULL ? sort_key(stmt, context, look) : NULL);
	put_text(&values[ADVICE_REASON], &nulls[ADVICE_REASON], look->reason);
	put_text(&values[ADVICE_SETTING], &nulls[ADVICE_SETTING],
			 look->reason != NULL ? gpusort_setting_for(look->reason) : NULL);
	put_gain(&values[ADVICE_QUERY_GAIN], &nulls[ADVICE_QUERY_GAIN], costs->without, costs->with);
	put_cost(&values[ADVICE_QUERY_COST_WITHOUT], &nulls[ADVICE_QUERY_COST_WITHOUT],
			 costs->without);
	put_cost(&values[ADVICE_QUERY_COST], &nulls[ADVICE_QUERY_COST], costs->with);
	if (look->has_costs)
	{
		put_gain(&values[ADVICE_SORT_GAIN], &nulls[ADVICE_SORT_GAIN], look->core_cost, look->cost);
		put_cost(&values[ADVICE_SORT_COST_WITHOUT], &nulls[ADVICE_SORT_COST_WITHOUT],
				 look->core_cost);
		put_cost(&values[ADVICE_SORT_COST], &nulls[ADVICE_SORT_COST], look->cost);
	}
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

/* Returns what a plan costs, with what the planner leaves out of what these nodes of it cost. */
static Cost
whole_cost(const PlannedStmt *stmt, const List *looks)
{
	Cost		cost = stmt->planTree->total_cost;
	ListCell   *lc;

	foreach(lc, looks)
		cost += ((const GpuSortLook *) lfirst(lc))->lacking;
	return cost;
}

/*
 * Starts and ends a plan as EXPLAIN does: so the caller needs permission for all tables and
 * functions in it.  Parameters may be asked for as partitions are pruned.
 */
static void
start_and_end(PlannedStmt *stmt, const Question *question)
{
	QueryDesc  *query = CreateQueryDesc(stmt, question->text, GetActiveSnapshot(), InvalidSnapshot,
										None_Receiver, question->parameters, NULL, 0);

	ExecutorStart(query, EXEC_FLAG_EXPLAIN_ONLY);
	ExecutorEnd(query);
	FreeQueryDesc(query);
}

static void
advise(ReturnSetInfo *rsinfo, PlannedStmt *stmt, PlannedStmt *without, const Question *question)
{
	bool		all_read = !(question->cursor_options & CURSOR_OPT_FAST_PLAN);
	List	   *context;
	List	   *looks;
	QueryCosts	costs;
	ListCell   *lc;

	/* a utility command that a rule has added */
	if (stmt->commandType == CMD_UTILITY)
		return;
	start_and_end(stmt, question);
	context = deparse_context(stmt);
	looks = gpusort_look_at_sorts(stmt, all_read);
	costs.with = whole_cost(stmt, looks);
	costs.without = whole_cost(without, gpusort_look_at_sorts(without, all_read));
	foreach(lc, looks)
		put_advice(rsinfo, stmt, &costs, context, lfirst(lc));
}

static void
advise_on_queries(ReturnSetInfo *rsinfo, Question *question)
{
	List	   *queries = analyze(question);
	List	   *plans = plan(queries, question);
	List	   *without = plan_without(queries, question);
	ListCell   *lc;
	ListCell   *lc2;

	forboth(lc, plans, lc2, without)
		advise(rsinfo, lfirst_node(PlannedStmt, lc), lfirst_node(PlannedStmt, lc2), question);
}

/* ---------- CREATE INDEX ---------- */

/* Returns the key columns of an index of this table, as ORDER BY would name them. */
static char *
index_key(Oid relid, const IndexStmt *statement)
{
	List	   *context = deparse_context_for(get_rel_name(relid), relid);
	StringInfoData text;
	ListCell   *lc;

	initStringInfo(&text);
	foreach(lc, statement->indexParams)
	{
		const IndexElem *element = lfirst_node(IndexElem, lc);

		appendStringInfo(&text, "%s%s%s", text.len > 0 ? ", " : "",
						 element->name != NULL ? quote_identifier(element->name)
						 : deparse_expression(element->expr, context, false, false),
						 element->ordering == SORTBY_DESC ? " DESC" : "");
	}
	return text.data;
}

/*
 * Expression tree walker: raises an error if the owner of a table may not call a function, since
 * the build would call it with the owner's rights.
 */
static bool
check_function(Oid function, void *owner)
{
	gpusort_check_execute(function, *(Oid *) owner, OBJECT_FUNCTION);
	return false;
}

static bool
check_functions(Node *node, void *owner)
{
	if (node == NULL)
		return false;
	(void) check_functions_in_node(node, check_function, owner);
	return expression_tree_walker(node, check_functions, owner);
}

/* Raises the errors of CREATE INDEX about functions of an expression, which may be NULL. */
static void
check_expression(Node *expression, Oid owner, const char *what)
{
	if (expression == NULL)
		return;
	(void) check_functions(expression, &owner);
	/* what is planned has all arguments, and the bodies of functions in place of their calls */
	if (contain_mutable_functions((Node *) expression_planner((Expr *) expression)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
				 errmsg("functions in index %s must be marked IMMUTABLE", what)));
}

static void
check_expressions(Relation heap, const IndexStmt *statement)
{
	Oid			owner = heap->rd_rel->relowner;
	ListCell   *lc;

	foreach(lc, statement->indexParams)
		check_expression(lfirst_node(IndexElem, lc)->expr, owner, "expression");
	check_expression(statement->whereClause, owner, "predicate");
}

/* Puts a row about what is done for an index, which is left to PostgreSQL if there is a reason. */
static void
put_build(ReturnSetInfo *rsinfo, const char *node, const char *key, double rows,
		  const char *reason)
{
	Datum		values[ADVICE_COLUMNS];
	bool		nulls[ADVICE_COLUMNS];

	memset(nulls, true, sizeof(nulls));
	put_text(&values[ADVICE_NODE], &nulls[ADVICE_NODE], node);
	put_text(&values[ADVICE_KIND], &nulls[ADVICE_KIND], gpusort_kind_name(GPUSORT_KIND_INDEX));
	put_text(&values[ADVICE_SORT_KEY], &nulls[ADVICE_SORT_KEY], key);
	values[ADVICE_ROWS] = Float8GetDatum(rows);
	values[ADVICE_TAKEN_OVER] = BoolGetDatum(reason == NULL);
	nulls[ADVICE_ROWS] = nulls[ADVICE_TAKEN_OVER] = false;
	put_text(&values[ADVICE_REASON], &nulls[ADVICE_REASON], reason);
	put_text(&values[ADVICE_SETTING], &nulls[ADVICE_SETTING],
			 reason != NULL ? gpusort_setting_for(reason) : NULL);
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

/* What is built concurrently is then compared with the table, in the order of TIDs. */
static void
advise_on_build(ReturnSetInfo *rsinfo, Relation heap, const IndexStmt *statement, const char *key)
{
	double		rows;
	const char *reason = gpusort_index_reason_to_leave(heap, statement, &rows);

	check_expressions(heap, statement);
	put_build(rsinfo, "Index Build", key, rows, reason);
	if (statement->concurrent && heap->rd_rel->relpersistence != RELPERSISTENCE_TEMP)
		put_build(rsinfo, "Index Validation", "ctid", rows,
				  "the server compares index and table by itself");
}

/* An index of a partitioned table is built for each of its partitions. */
static void
advise_on_index(ReturnSetInfo *rsinfo, const Question *question)
{
	IndexStmt  *statement = castNode(IndexStmt, question->statement->stmt);
	Oid			relid = RangeVarGetRelidExtended(statement->relation, AccessShareLock, 0,
												 RangeVarCallbackOwnsRelation, NULL);
	bool		has_parts = get_rel_relkind(relid) == RELKIND_PARTITIONED_TABLE &&
		statement->relation->inh;
	List	   *tables = has_parts ? find_all_inheritors(relid, AccessShareLock, NULL)
		: list_make1_oid(relid);
	char	   *key;
	ListCell   *lc;

	if (strcmp(statement->accessMethod, "btree") != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("gpusort_advise() knows of builds of btree indexes, not of \"%s\"",
						statement->accessMethod)));
	if (statement->concurrent && get_rel_relkind(relid) == RELKIND_PARTITIONED_TABLE)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot create index on partitioned table \"%s\" concurrently",
						get_rel_name(relid))));
	statement = transformIndexStmt(relid, statement, question->text);
	/* its expressions are of this table's columns, which may have other numbers in partitions */
	key = index_key(relid, statement);
	foreach(lc, tables)
	{
		Relation	heap = table_open(lfirst_oid(lc), NoLock);

		if (RELKIND_HAS_TABLE_AM(heap->rd_rel->relkind))
			advise_on_build(rsinfo, heap, statement, key);
		table_close(heap, NoLock);
	}
}

/*
 * Error context callback: makes the position of an error one in the text that was passed to
 * gpusort_advise(), not in the statement that calls it.
 */
static void
point_into_text(void *text)
{
	int			position = geterrposition();

	if (position <= 0)
		return;
	errposition(0);
	internalerrposition(position);
	internalerrquery(text);
}

Datum
gpusort_advise(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	char	   *query = text_to_cstring(PG_GETARG_TEXT_PP(0));
	ErrorContextCallback context = {error_context_stack, point_into_text, query};
	Question	question;

	InitMaterializedSRF(fcinfo, 0);
	if (rsinfo->setDesc->natts != ADVICE_COLUMNS)
		elog(ERROR, "gpusort_advise() is declared wrongly");
	error_context_stack = &context;
	question = parse_one(query);
	if (IsA(question.statement->stmt, IndexStmt))
		advise_on_index(rsinfo, &question);
	else
		advise_on_queries(rsinfo, &question);
	error_context_stack = context.previous;
	return (Datum) 0;
}
