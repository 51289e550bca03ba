/*
 * explain_key.c
 *		What EXPLAIN says about the columns that a node sorts by.
 *
 * "Sort Key" is printed exactly as for a Sort node; EXPLAIN VERBOSE adds how the keys
 * are encoded.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"
#include "utils/typcache.h"

#include "exec/explain_key.h"
#include "keys/key_codec.h"
#include "pg_compat/explain.h"

/* Appends what distinguishes the column's order from the default order of its type. */
static void
append_order_options(StringInfo buf, Node *column, Oid sortop, Oid collation, bool nulls_first)
{
	Oid			type = exprType(column);
	TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_LT_OPR | TYPECACHE_GT_OPR);
	bool		reverse = false;

	if (OidIsValid(collation) && collation != get_typcollation(type))
		appendStringInfo(buf, " COLLATE %s", quote_identifier(get_collation_name(collation)));

	if (sortop == entry->gt_opr)
	{
		appendStringInfoString(buf, " DESC");
		reverse = true;
	}
	else if (sortop != entry->lt_opr)
	{
		char	   *name = get_opname(sortop);

		if (name == NULL)
			elog(ERROR, "cache lookup failed for operator %u", sortop);
		appendStringInfo(buf, " USING %s", name);
		(void) get_equality_op_for_ordering_op(sortop, &reverse);
	}

	if (nulls_first && !reverse)
		appendStringInfoString(buf, " NULLS FIRST");
	else if (!nulls_first && reverse)
		appendStringInfoString(buf, " NULLS LAST");
}

/* Returns a Var for a column of the node's outer child. */
static Node *
child_column(const Plan *plan, AttrNumber attno)
{
	return (Node *) makeVarFromTargetEntry(OUTER_VAR,
										   list_nth_node(TargetEntry, outerPlan(plan)->targetlist,
														 attno - 1));
}

static Node *
sort_column(const Plan *sort, const GpuSortSpec *spec, int i)
{
	return child_column(sort, spec->attnos[i]);
}

List *
gpusort_describe_sort(const Plan *sort, const GpuSortSpec *spec, int ncolumns, List *context,
					  bool use_prefix)
{
	List	   *keys = NIL;

	for (int i = 0; i < ncolumns; i++)
	{
		Node	   *column = sort_column(sort, spec, i);
		StringInfoData buf;

		initStringInfo(&buf);
		appendStringInfoString(&buf, deparse_expression(column, context, use_prefix, true));
		append_order_options(&buf, column, spec->sortops[i], spec->collations[i],
							 spec->nulls_first[i]);
		keys = lappend(keys, buf.data);
	}
	return keys;
}

void
gpusort_explain_columns(CustomScanState *css, const GpuSortSpec *spec, int ncolumns,
						const char *label, List *ancestors, ExplainState *es)
{
	Plan	   *plan = css->ss.ps.plan;
	List	   *context = set_deparse_context_plan(es->deparse_cxt, plan, ancestors);

	ExplainPropertyList(label, gpusort_describe_sort(plan, spec, ncolumns, context,
													 gpusort_explain_prefix(es)), es);
}

void
gpusort_explain_groups(CustomScanState *css, const List *attnos, List *ancestors, ExplainState *es)
{
	Plan	   *plan = css->ss.ps.plan;
	List	   *context = set_deparse_context_plan(es->deparse_cxt, plan, ancestors);
	List	   *names = NIL;
	ListCell   *lc;

	foreach(lc, attnos)
		names = lappend(names, deparse_expression(child_column(plan, lfirst_int(lc)), context,
												  gpusort_explain_prefix(es), true));
	ExplainPropertyList("Group Key", names, es);
}

void
gpusort_explain_encoding(CustomScanState *css, const GpuSortSpec *spec, ExplainState *es)
{
	List	   *names = NIL;

	for (int i = 0; i < spec->nkeys; i++)
	{
		const char *reason;
		bool		reverse;
		const GpuSortCodec *codec = gpusort_codec_lookup(spec->sortops[i],
														 exprType(sort_column(css->ss.ps.plan,
																			  spec, i)),
														 spec->collations[i],
														 &reverse, &reason);

		names = lappend(names, pstrdup(codec ? codec->name : reason));
	}
	ExplainPropertyList("Key Encoding", names, es);
}
