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

/* Explains how our own engine has sorted. */
static void
explain_engine(const GpuSortStats *stats, ExplainState *es)
{
	int64		memory_kb = (stats->memory_bytes + 1023) / 1024;
	int64		pool_kb = stats->pool_bytes / 1024;
	bool		on_host = stats->engine == GPUSORT_SORTED_BY_HOST;
	const char *method = stats->trims > 0 ? "top-N radix" : "radix";

	if (es->format == EXPLAIN_FORMAT_TEXT)
	{
		gpusort_explain_indent(es);
		appendStringInfo(es->str, "Sort Method: %s  Memory: " INT64_FORMAT "kB", method, memory_kb);
		if (pool_kb > 0)
			appendStringInfo(es->str, "  Pool: " INT64_FORMAT "kB", pool_kb);
		appendStringInfoChar(es->str, '\n');
		gpusort_explain_indent(es);
		appendStringInfo(es->str, "Engine: %s", engine_name(stats->engine));
		if (!on_host)
			appendStringInfo(es->str, "  Devices: %u", stats->devices);
		else if (stats->processes > 1)
			appendStringInfo(es->str, "  Processes: %u", stats->processes);
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
	ExplainPropertyText("Sort Method", method, es);
	ExplainPropertyInteger("Sort Space Used", "kB", memory_kb, es);
	ExplainPropertyText("Sort Space Type", "Memory", es);
	ExplainPropertyInteger("Pool Space Used", "kB", pool_kb, es);
	ExplainPropertyText("Engine", engine_name(stats->engine), es);
	if (!on_host)
		ExplainPropertyInteger("Devices", NULL, stats->devices, es);
	else if (stats->processes > 1)
		ExplainPropertyInteger("Processes", NULL, stats->processes, es);
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

/* Explains how many rows were kept because of a bound, and how many were dropped. */
static void
explain_bound(const GpuSortStats *stats, ExplainState *es)
{
	if (es->format == EXPLAIN_FORMAT_TEXT)
	{
		gpusort_explain_indent(es);
		appendStringInfo(es->str,
						 "Bound: " UINT64_FORMAT "  Trims: " UINT64_FORMAT "  Dropped Rows: " UINT64_FORMAT "\n",
						 stats->bound, stats->trims, stats->dropped_rows);
		return;
	}
	ExplainPropertyUInteger("Bound", NULL, stats->bound, es);
	ExplainPropertyUInteger("Trims", NULL, stats->trims, es);
	ExplainPropertyUInteger("Dropped Rows", NULL, stats->dropped_rows, es);
}

/*
 * Explains how much of the rows went through temporary files, and how much was kept in memory as
 * runs, since there was no room for the rows' keys.
 */
static void
explain_spill(const GpuSortStats *stats, bool timing, ExplainState *es)
{
	int64		kb = (stats->spilled_bytes + 1023) / 1024;
	int64		kept_kb = (stats->kept_bytes + 1023) / 1024;
	double		write_ms = INSTR_TIME_GET_MILLISEC(stats->write_time);
	double		read_ms = INSTR_TIME_GET_MILLISEC(stats->read_time);

	if (es->format == EXPLAIN_FORMAT_TEXT)
	{
		gpusort_explain_indent(es);
		appendStringInfo(es->str, "Spilled: " INT64_FORMAT "kB", kb);
		if (stats->kept_bytes > 0)
			appendStringInfo(es->str, "  Kept: " INT64_FORMAT "kB", kept_kb);
		appendStringInfo(es->str, "  Runs: %u  Portions: %u", stats->runs, stats->portions);
		if (stats->worker_portions > 0)
			appendStringInfo(es->str, " (%u by workers)", stats->worker_portions);
		if (stats->merged_runs > 0)
			appendStringInfo(es->str, "  Merged Runs: %u", stats->merged_runs);
		if (timing)
			appendStringInfo(es->str, "  Write: %.3f ms  Read: %.3f ms", write_ms, read_ms);
		appendStringInfoChar(es->str, '\n');
		return;
	}
	ExplainPropertyInteger("Spilled", "kB", kb, es);
	ExplainPropertyInteger("Kept", "kB", kept_kb, es);
	ExplainPropertyInteger("Runs", NULL, stats->runs, es);
	ExplainPropertyInteger("Portions", NULL, stats->portions, es);
	ExplainPropertyInteger("Portions Of Workers", NULL, stats->worker_portions, es);
	ExplainPropertyInteger("Merged Runs", NULL, stats->merged_runs, es);
	if (timing)
	{
		ExplainPropertyFloat("Run Write Time", "ms", write_ms, 3, es);
		ExplainPropertyFloat("Run Read Time", "ms", read_ms, 3, es);
	}
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
	report->collect_time = collect_time;
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
			explain_spill(&report->stats, es->timing, es);
	}
	if (report->stats.trims > 0)
		explain_bound(&report->stats, es);
	if (es->timing)
		explain_times(report, es);
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
