/*
 * advise.c
 *		gpusort_advise(): which sorts of a query are taken over, which are not, and which setting
 *		would change that.
 *
 * The query is planned twice, with the current settings and without gpusort, but never executed.
 * The caller needs the privileges that EXPLAIN of the query needs.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/extensible.h"
#include "tcop/tcopprot.h"
#include "tcop/utility.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/ruleutils.h"
#include "utils/tuplestore.h"

#include "exec/explain_private.h"
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
	ADVICE_SORT_COST_WITHOUT,
	ADVICE_SORT_COST,
	ADVICE_GAIN,
	ADVICE_QUERY_COST_WITHOUT,
	ADVICE_QUERY_COST,
	ADVICE_COLUMNS
};

/* Parses a text, which must be a single statement. */
static RawStmt *
parse_one(const char *text)
{
	List	   *statements = pg_parse_query(text);

	if (list_length(statements) != 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("gpusort_advise() wants one statement, not %d", list_length(statements))));
	return linitial_node(RawStmt, statements);
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

/* Returns the queries that the statement is rewritten to.  It may have parameters $1 and so on. */
static List *
analyze(const char *text)
{
	RawStmt    *statement = parse_one(text);
	Oid		   *types = NULL;
	int			ntypes = 0;
	List	   *queries = pg_analyze_and_rewrite_varparams(statement, text, &types, &ntypes, NULL);
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
	return queries;
}

static List *
plan(List *queries, const char *text)
{
	return pg_plan_queries(copyObject(queries), text, CURSOR_OPT_PARALLEL_OK, NULL);
}

/* Plans the queries without gpusort. */
static List *
plan_without(List *queries, const char *text)
{
	int			nest_level = NewGUCNestLevel();
	List	   *plans;

	(void) set_config_option("gpusort.enabled", "off", PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
	plans = plan(queries, text);
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

static void
put_advice(ReturnSetInfo *rsinfo, PlannedStmt *stmt, const PlannedStmt *without, List *context,
		   const GpuSortLook *look)
{
	const Plan *input = look->sort != NULL ? look->plan : look->plan->lefttree;
	const char *reason = look->reason;
	Datum		values[ADVICE_COLUMNS] = {
		[ADVICE_NODE] = CStringGetTextDatum(node_name(look->plan)),
		[ADVICE_KIND] = CStringGetTextDatum(gpusort_kind_name(look->kind)),
		[ADVICE_ROWS] = Float8GetDatum(input->plan_rows),
		[ADVICE_TAKEN_OVER] = BoolGetDatum(reason == NULL),
		[ADVICE_SORT_COST_WITHOUT] = Float8GetDatum(look->core_cost),
		[ADVICE_SORT_COST] = Float8GetDatum(look->cost),
		[ADVICE_GAIN] = Float8GetDatum(look->cost > 0 ? look->core_cost / look->cost : 0),
		[ADVICE_QUERY_COST_WITHOUT] = Float8GetDatum(without->planTree->total_cost),
		[ADVICE_QUERY_COST] = Float8GetDatum(stmt->planTree->total_cost),
	};
	bool		nulls[ADVICE_COLUMNS] = {
		[ADVICE_SORT_COST_WITHOUT] = !look->has_costs,
		[ADVICE_SORT_COST] = !look->has_costs,
		[ADVICE_GAIN] = !look->has_costs || look->cost <= 0,
	};

	put_text(&values[ADVICE_SORT_KEY], &nulls[ADVICE_SORT_KEY],
			 look->sort != NULL ? sort_key(stmt, context, look) : NULL);
	put_text(&values[ADVICE_REASON], &nulls[ADVICE_REASON], reason);
	put_text(&values[ADVICE_SETTING], &nulls[ADVICE_SETTING],
			 reason != NULL ? gpusort_setting_for(reason) : NULL);
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

static void
advise(ReturnSetInfo *rsinfo, PlannedStmt *stmt, const PlannedStmt *without)
{
	List	   *context;
	ListCell   *lc;

	/* a utility command that a rule has added */
	if (stmt->commandType == CMD_UTILITY)
		return;
	gpusort_check_permissions(stmt);
	context = deparse_context(stmt);
	foreach(lc, gpusort_look_at_sorts(stmt, true))
		put_advice(rsinfo, stmt, without, context, lfirst(lc));
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
	List	   *queries;
	List	   *plans;
	List	   *without;
	ListCell   *lc;
	ListCell   *lc2;

	InitMaterializedSRF(fcinfo, 0);
	if (rsinfo->setDesc->natts != ADVICE_COLUMNS)
		elog(ERROR, "gpusort_advise() is declared wrongly");
	error_context_stack = &context;
	queries = analyze(query);
	plans = plan(queries, query);
	without = plan_without(queries, query);
	error_context_stack = context.previous;
	forboth(lc, plans, lc2, without)
		advise(rsinfo, lfirst_node(PlannedStmt, lc), lfirst_node(PlannedStmt, lc2));
	return (Datum) 0;
}
