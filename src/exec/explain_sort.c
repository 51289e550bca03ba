/*
 * explain_sort.c
 *		What EXPLAIN says about the columns that a node sorts by, how a sort went, and the rows
 *		that participants collected.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"
#include "utils/typcache.h"

#include "exec/explain_private.h"
#include "keys/key_codec.h"
#include "pg_compat/explain.h"

/* ---------- the key ---------- */

/*
 * "Sort Key" is printed exactly as for a Sort node; EXPLAIN VERBOSE adds how the keys
 * are encoded.
 */

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

/* ---------- how a sort went ---------- */

/* Returns whether a counter is shown of this sort. */
static bool
is_shown(const GpuSortCounter *counter, const GpuSortStats *stats, const ExplainState *es)
{
	const GpuSortExplained *explained = &counter->explained;
	bool		on_host = stats->engine == GPUSORT_SORTED_BY_HOST;

	if (counter->unit == GPUSORT_UNIT_TIME)
		return es->timing;
	if ((explained->of == GPUSORT_SHOWN_OF_HOST && !on_host) ||
		(explained->of == GPUSORT_SHOWN_OF_DEVICES && on_host))
		return false;
	return gpusort_counter_value(counter, stats) > 0 || explained->zero == GPUSORT_ZERO_SHOWN ||
		(explained->zero == GPUSORT_ZERO_NOT_IN_TEXT && es->format != EXPLAIN_FORMAT_TEXT);
}

static void
explain_counter(const GpuSortCounter *counter, const GpuSortStats *stats, ExplainState *es)
{
	const char *property = counter->explained.property;
	uint64		value = gpusort_counter_value(counter, stats);
	instr_time	time;
	char		text[32];

	switch (counter->unit)
	{
		case GPUSORT_UNIT_FLAG:
			if (es->format == EXPLAIN_FORMAT_TEXT)
				appendStringInfoString(es->str, counter->explained.text);
			else
				ExplainPropertyBool(property, value != 0, es);
			return;
		case GPUSORT_UNIT_TIME:
			time = gpusort_counter_time(counter, stats);
			snprintf(text, sizeof(text), "%.3f", INSTR_TIME_GET_MILLISEC(time));
			if (es->format != EXPLAIN_FORMAT_TEXT)
				ExplainPropertyFloat(property, "ms", INSTR_TIME_GET_MILLISEC(time), 3, es);
			break;
		default:
			if (counter->unit == GPUSORT_UNIT_BYTES)
				value = (value + 1023) / 1024;
			snprintf(text, sizeof(text), UINT64_FORMAT, value);
			if (es->format != EXPLAIN_FORMAT_TEXT)
				ExplainPropertyUInteger(property, counter->unit == GPUSORT_UNIT_BYTES ? "kB" : NULL,
										value, es);
	}
	if (es->format == EXPLAIN_FORMAT_TEXT)
		appendStringInfo(es->str, counter->explained.text, text);
}

/* Explains the counters of a line, or a part of one. */
static void
explain_counters(GpuSortLine line, const GpuSortStats *stats, ExplainState *es)
{
	for (int i = 0; i < GPUSORT_COUNTERS; i++)
		if (gpusort_counters[i].explained.line == line &&
			is_shown(&gpusort_counters[i], stats, es))
			explain_counter(&gpusort_counters[i], stats, es);
}

/* Begins a line of text. */
static void
begin_line(const char *label, const char *value, ExplainState *es)
{
	gpusort_explain_indent(es);
	appendStringInfo(es->str, "%s%s", label, value);
}

/* Explains a line of text, or properties, that consists of this label and counters. */
static void
explain_line(const char *label, GpuSortLine line, const GpuSortStats *stats, ExplainState *es)
{
	if (es->format == EXPLAIN_FORMAT_TEXT)
		begin_line(label, "", es);
	explain_counters(line, stats, es);
	if (es->format == EXPLAIN_FORMAT_TEXT)
		appendStringInfoChar(es->str, '\n');
}

/* Explains a sort that was handed over to tuplesort. */
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
		begin_line("Handed Over: ", gpusort_handover_reason(stats->handover), es);
		explain_counters(GPUSORT_LINE_HANDOVER, stats, es);
		appendStringInfoChar(es->str, '\n');
		return;
	}
	ExplainPropertyText("Sort Method", method, es);
	ExplainPropertyInteger("Sort Space Used", "kB", report->core.spaceUsed, es);
	ExplainPropertyText("Sort Space Type", space, es);
	ExplainPropertyText("Handed Over", gpusort_handover_reason(stats->handover), es);
	explain_counters(GPUSORT_LINE_HANDOVER, stats, es);
}

/* Explains how our own engine has sorted. */
static void
explain_engine(const GpuSortStats *stats, ExplainState *es)
{
	const char *method = stats->trims > 0 ? "top-N radix" : "radix";
	const char *engine = gpusort_engine_name(stats->engine);

	if (es->format == EXPLAIN_FORMAT_TEXT)
	{
		begin_line("Sort Method: ", method, es);
		explain_counters(GPUSORT_LINE_MEMORY, stats, es);
		explain_counters(GPUSORT_LINE_POOL, stats, es);
		appendStringInfoChar(es->str, '\n');
		begin_line("Engine: ", engine, es);
		explain_counters(GPUSORT_LINE_ENGINE, stats, es);
		explain_counters(GPUSORT_LINE_VERIFIED, stats, es);
		explain_counters(GPUSORT_LINE_REORDERED, stats, es);
		if (stats->fallback[0] != '\0')
			appendStringInfo(es->str, "  Fallback: %s", stats->fallback);
		appendStringInfoChar(es->str, '\n');
		return;
	}
	ExplainPropertyText("Sort Method", method, es);
	explain_counters(GPUSORT_LINE_MEMORY, stats, es);
	ExplainPropertyText("Sort Space Type", "Memory", es);
	explain_counters(GPUSORT_LINE_POOL, stats, es);
	ExplainPropertyText("Engine", engine, es);
	explain_counters(GPUSORT_LINE_ENGINE, stats, es);
	explain_counters(GPUSORT_LINE_REORDERED, stats, es);
	explain_counters(GPUSORT_LINE_VERIFIED, stats, es);
	if (stats->fallback[0] != '\0')
		ExplainPropertyText("Fallback", stats->fallback, es);
}

void
gpusort_explain_no_rows(ExplainState *es)
{
	if (es->format == EXPLAIN_FORMAT_TEXT)
	{
		gpusort_explain_indent(es);
		appendStringInfoString(es->str, "Sort Method: none  Memory: 0kB\n");
		return;
	}
	ExplainPropertyText("Sort Method", "none", es);
	ExplainPropertyInteger("Sort Space Used", "kB", 0, es);
	ExplainPropertyText("Sort Space Type", "Memory", es);
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
	report->stats.collect_time = collect_time;
}

void
gpusort_explain_report(const GpuSortReport *report, ExplainState *es)
{
	if (report->handed_over)
		explain_handover(report, es);
	else
	{
		explain_engine(&report->stats, es);
		if (report->stats.of_keys && es->verbose)
			ExplainPropertyText("Rows", "made of their keys", es);
		if (report->stats.runs > 0)
			explain_line("", GPUSORT_LINE_SPILL, &report->stats, es);
	}
	if (report->stats.trims > 0)
		explain_line("", GPUSORT_LINE_BOUND, &report->stats, es);
	if (es->timing)
		explain_line("Phases:", GPUSORT_LINE_PHASES, &report->stats, es);
}

/* ---------- rows that participants collected ---------- */

/*
 * The server's own figures for a GpuSort Collect node are right, but say little, since the node
 * returns hardly any row.  So we add how many rows all participants together have collected, and
 * how many came another way instead; EXPLAIN VERBOSE adds the same for each participant that has
 * taken part.
 */

void
gpusort_keep_counts(GpuSortKeptCounts *kept, const GpuSortCollectCounts *counts,
					int participants, MemoryContext context)
{
	if (participants > kept->participants)
		kept->counts = MemoryContextAlloc(context, participants * sizeof(GpuSortCollectCounts));
	kept->participants = participants;
	memcpy(kept->counts, counts, participants * sizeof(GpuSortCollectCounts));
}

void
gpusort_explain_from_pages(uint64 rows, ExplainState *es)
{
	if (es->verbose)
		ExplainPropertyUInteger("Rows From Pages", NULL, rows, es);
}

void
gpusort_explain_calls_saved(uint64 calls, ExplainState *es)
{
	if (es->verbose && calls > 0)
		ExplainPropertyUInteger("Calls Saved", NULL, calls, es);
}

static void
explain_counts(const GpuSortCollectCounts *counts, const char *label, const char *other_way,
			   ExplainState *es)
{
	if (es->format == EXPLAIN_FORMAT_TEXT)
	{
		gpusort_explain_indent(es);
		appendStringInfo(es->str,
						 "%sRows Collected: " UINT64_FORMAT "  Through %s: " UINT64_FORMAT,
						 label, counts->taken, other_way, counts->refused);
		if (es->verbose)
			appendStringInfo(es->str, "  From Pages: " UINT64_FORMAT, counts->from_pages);
		appendStringInfoChar(es->str, '\n');
		return;
	}
	ExplainPropertyUInteger("Rows Collected", NULL, counts->taken, es);
	ExplainPropertyUInteger(psprintf("Rows Through %s", other_way), NULL, counts->refused, es);
	gpusort_explain_from_pages(counts->from_pages, es);
}

/*
 * Explains the counts of one participant.  Number 0 is the leader, number i + 1 what PostgreSQL
 * calls Worker i.
 */
static void
explain_participant(const GpuSortCollectCounts *counts, int number, const char *other_way,
					ExplainState *es)
{
	char		name[32] = "Leader";

	if (number > 0)
		snprintf(name, sizeof(name), "Worker %d", number - 1);
	if (es->format == EXPLAIN_FORMAT_TEXT)
	{
		strcat(name, ":  ");
		explain_counts(counts, name, other_way, es);
		return;
	}
	ExplainOpenGroup("Participant", NULL, true, es);
	ExplainPropertyText("Participant", name, es);
	explain_counts(counts, name, other_way, es);
	ExplainCloseGroup("Participant", NULL, true, es);
}

void
gpusort_explain_counts(const GpuSortKeptCounts *kept, const char *other_way, ExplainState *es)
{
	GpuSortCollectCounts total = {0};

	for (int i = 0; i < kept->participants; i++)
	{
		total.taken += kept->counts[i].taken;
		total.refused += kept->counts[i].refused;
		total.from_pages += kept->counts[i].from_pages;
	}
	explain_counts(&total, "", other_way, es);
	if (!es->verbose)
		return;
	ExplainOpenGroup("Participants", "Participants", false, es);
	for (int i = 0; i < kept->participants; i++)
		if (kept->counts[i].took_part)
			explain_participant(&kept->counts[i], i, other_way, es);
	ExplainCloseGroup("Participants", "Participants", false, es);
}
