/*
 * explain_counts.c
 *		What EXPLAIN ANALYZE says about rows that participants collect.
 *
 * The server's own figures for a GpuSort Collect node are right, but say little, since the node
 * returns hardly any row.  So we add how many rows all participants together have collected, and
 * how many came another way instead; EXPLAIN VERBOSE adds the same for each participant that has
 * taken part.
 */
#include "postgres.h"

#include "exec/explain_counts.h"
#include "pg_compat/explain.h"

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
