/*
 * explain_node.c
 *		What EXPLAIN says about a GpuSort node.
 *
 * "Sort Key" is printed exactly as for a Sort node.  EXPLAIN ANALYZE adds how
 * the rows were sorted, EXPLAIN VERBOSE how the keys are encoded.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_collation.h"
#include "lib/stringinfo.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"
#include "utils/tuplesort.h"
#include "utils/typcache.h"

#include "exec/explain_node.h"
#include "keys/key_codec.h"
#include "pg_compat.h"
#include "plan/plan_node.h"

/* Append what distinguishes the column's order from its type's default. */
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

/* A sort column, as the child returns it. */
static Node *
sort_column(CustomScanState *css, const GpuSortSpec *spec, int i)
{
	Plan	   *child = outerPlan(css->ss.ps.plan);

	return (Node *) makeVarFromTargetEntry(OUTER_VAR,
										   list_nth_node(TargetEntry, child->targetlist,
														 spec->attnos[i] - 1));
}

void
gpusort_explain_columns(CustomScanState *css, const GpuSortSpec *spec, int ncolumns,
						const char *label, List *ancestors, ExplainState *es)
{
	CustomScan *scan = (CustomScan *) css->ss.ps.plan;
	List	   *context = set_deparse_context_plan(es->deparse_cxt, &scan->scan.plan, ancestors);
	bool		use_prefix = gpusort_explain_prefix(es);
	List	   *keys = NIL;

	for (int i = 0; i < ncolumns; i++)
	{
		Node	   *column = sort_column(css, spec, i);
		StringInfoData buf;

		initStringInfo(&buf);
		appendStringInfoString(&buf, deparse_expression(column, context, use_prefix, true));
		append_order_options(&buf, column, spec->sortops[i], spec->collations[i],
							 spec->nulls_first[i]);
		keys = lappend(keys, buf.data);
	}
	ExplainPropertyList(label, keys, es);
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
														 exprType(sort_column(css, spec, i)),
														 spec->collations[i],
														 &reverse, &reason);

		names = lappend(names, pstrdup(codec ? codec->name : reason));
	}
	ExplainPropertyList("Key Encoding", names, es);
}

static const char *
handover_reason(GpuSortHandover why)
{
	switch (why)
	{
		case GPUSORT_HANDOVER_MEMORY:
			return "memory limit reached";
		case GPUSORT_HANDOVER_VALUE:
			return "value without encoding";
		case GPUSORT_HANDOVER_ORDER:
			return "order not confirmed";
		default:
			return "none";
	}
}

/* The sort has ended up in tuplesort. */
static void
explain_handover(const GpuSortReport *report, ExplainState *es)
{
	const GpuSortStats *stats = &report->stats;
	const char *method = tuplesort_method_name(report->core.sortMethod);
	const char *space = tuplesort_space_type_name(report->core.spaceType);

	if (es->format == EXPLAIN_FORMAT_TEXT)
	{
		gpusort_explain_indent(es);
		appendStringInfo(es->str, "Sort Method: %s  %s: " INT64_FORMAT "kB\n",
						 method, space, (int64) report->core.spaceUsed);
		gpusort_explain_indent(es);
		appendStringInfo(es->str, "Handed Over: %s after " UINT64_FORMAT " rows\n",
						 handover_reason(stats->handover), stats->handover_rows);
		return;
	}
	ExplainPropertyText("Sort Method", method, es);
	ExplainPropertyInteger("Sort Space Used", "kB", report->core.spaceUsed, es);
	ExplainPropertyText("Sort Space Type", space, es);
	ExplainPropertyText("Handed Over", handover_reason(stats->handover), es);
	ExplainPropertyInteger("Rows Before Handover", NULL, stats->handover_rows, es);
}

static const char *
engine_name(GpuSortSortedBy engine)
{
	switch (engine)
	{
		case GPUSORT_SORTED_BY_CUDA:
			return "cuda";
		case GPUSORT_SORTED_BY_SIMULATION:
			return "simulated";
		default:
			return "host";
	}
}

/* How our own engine sorted. */
static void
explain_engine(const GpuSortStats *stats, ExplainState *es)
{
	int64		memory_kb = (stats->memory_bytes + 1023) / 1024;
	int64		pool_kb = stats->pool_bytes / 1024;
	bool		on_host = stats->engine == GPUSORT_SORTED_BY_HOST;

	if (es->format == EXPLAIN_FORMAT_TEXT)
	{
		gpusort_explain_indent(es);
		appendStringInfo(es->str, "Sort Method: radix  Memory: " INT64_FORMAT "kB", memory_kb);
		if (pool_kb > 0)
			appendStringInfo(es->str, "  Pool: " INT64_FORMAT "kB", pool_kb);
		appendStringInfoChar(es->str, '\n');
		gpusort_explain_indent(es);
		appendStringInfo(es->str, "Engine: %s", engine_name(stats->engine));
		if (!on_host)
			appendStringInfo(es->str, "  Devices: %u", stats->devices);
		appendStringInfo(es->str, "  Key: %u bits  %s: %u  Refined Rows: " UINT64_FORMAT "%s%s",
						 stats->key_bits, on_host ? "Passes" : "Rounds", stats->passes,
						 stats->refined_rows,
						 stats->presorted ? "  Presorted" : "",
						 stats->verified ? "  Verified" : "");
		if (stats->repaired_rows > 0)
			appendStringInfo(es->str, "  Repaired Rows: " UINT64_FORMAT, stats->repaired_rows);
		if (stats->reordered_rows > 0)
			appendStringInfo(es->str, "  Reordered Rows: " UINT64_FORMAT, stats->reordered_rows);
		if (stats->fallback[0] != '\0')
			appendStringInfo(es->str, "  Fallback: %s", stats->fallback);
		appendStringInfoChar(es->str, '\n');
		return;
	}
	ExplainPropertyText("Sort Method", "radix", es);
	ExplainPropertyInteger("Sort Space Used", "kB", memory_kb, es);
	ExplainPropertyText("Sort Space Type", "Memory", es);
	ExplainPropertyInteger("Pool Space Used", "kB", pool_kb, es);
	ExplainPropertyText("Engine", engine_name(stats->engine), es);
	if (!on_host)
		ExplainPropertyInteger("Devices", NULL, stats->devices, es);
	ExplainPropertyInteger("Key Bits", NULL, stats->key_bits, es);
	ExplainPropertyInteger(on_host ? "Partition Passes" : "Rounds", NULL, stats->passes, es);
	ExplainPropertyInteger("Refined Rows", NULL, stats->refined_rows, es);
	if (!on_host)
		ExplainPropertyInteger("Reordered Rows", NULL, stats->reordered_rows, es);
	ExplainPropertyBool("Presorted", stats->presorted, es);
	ExplainPropertyBool("Verified", stats->verified, es);
	if (stats->repaired_rows > 0)
		ExplainPropertyInteger("Repaired Rows", NULL, stats->repaired_rows, es);
	if (stats->fallback[0] != '\0')
		ExplainPropertyText("Fallback", stats->fallback, es);
}

static void
explain_times(const GpuSortReport *report, ExplainState *es)
{
	const GpuSortStats *stats = &report->stats;
	const struct
	{
		const char *phase;
		const char *property;
		double		ms;
	}			times[] = {
		{"collect", "Collect Time", INSTR_TIME_GET_MILLISEC(report->collect_time)},
		{"sort", "Sort Time", INSTR_TIME_GET_MILLISEC(stats->sort_time)},
		{"refine", "Refine Time", INSTR_TIME_GET_MILLISEC(stats->refine_time)},
		{"verify", "Verify Time", INSTR_TIME_GET_MILLISEC(stats->verify_time)},
	};

	if (es->format == EXPLAIN_FORMAT_TEXT)
	{
		gpusort_explain_indent(es);
		appendStringInfoString(es->str, "Phases:");
		for (int i = 0; i < lengthof(times); i++)
			appendStringInfo(es->str, "%s %s %.3f ms", i > 0 ? "," : "", times[i].phase,
							 times[i].ms);
		appendStringInfoChar(es->str, '\n');
		return;
	}
	for (int i = 0; i < lengthof(times); i++)
		ExplainPropertyFloat(times[i].property, "ms", times[i].ms, 3, es);
}

void
gpusort_make_report(GpuSort *sort, instr_time collect_time, GpuSortReport *report)
{
	memset(report, 0, sizeof(*report));
	report->performed = true;
	report->handed_over = gpusort_tuplesort(sort) != NULL;
	report->stats = *gpusort_get_stats(sort);
	if (report->handed_over)
		tuplesort_get_stats(gpusort_tuplesort(sort), &report->core);
	report->collect_time = collect_time;
}

void
gpusort_explain_report(const GpuSortReport *report, ExplainState *es)
{
	if (report->handed_over)
		explain_handover(report, es);
	else
		explain_engine(&report->stats, es);
	if (es->timing)
		explain_times(report, es);
}

void
gpusort_explain(CustomScanState *css, List *ancestors, ExplainState *es)
{
	GpuSortScanState *node = (GpuSortScanState *) css;
	GpuSortReport report;

	gpusort_explain_columns(css, &node->spec, node->spec.nkeys, "Sort Key", ancestors, es);
	if (node->late != NULL)
		ExplainPropertyText("Rows", "fetched by TID", es);
	if (es->verbose)
		gpusort_explain_encoding(css, &node->spec, es);
	if (!es->analyze || !node->sorted)
		return;
	gpusort_make_report(node->sort, node->collect_time, &report);
	gpusort_explain_report(&report, es);
}
