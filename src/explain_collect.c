/*
 * explain_collect.c
 *		What EXPLAIN ANALYZE says about a GpuSort Collect node.
 *
 * The server's own figures for the node are right, but say little: it returns hardly
 * any row.  So it is told how many rows were collected, and how many came
 * through Gather instead, by all participants together; EXPLAIN VERBOSE tells it
 * for each that had something to do.
 */
#include "postgres.h"

#include "exec_collect.h"
#include "pg_compat.h"
#include "plan_node.h"

static void
explain_counts(const GpuSortCollectCounts *counts, const char *label, ExplainState *es)
{
	if (es->format == EXPLAIN_FORMAT_TEXT)
	{
		gpusort_explain_indent(es);
		appendStringInfo(es->str, "%sRows Collected: " UINT64_FORMAT "  Through Gather: " UINT64_FORMAT "\n",
						 label, counts->taken, counts->gathered);
		return;
	}
	ExplainPropertyUInteger("Rows Collected", NULL, counts->taken, es);
	ExplainPropertyUInteger("Rows Through Gather", NULL, counts->gathered, es);
}

/* Number 0 is the leader, number i + 1 what PostgreSQL calls Worker i. */
static void
explain_participant(const GpuSortCollectCounts *counts, int number, ExplainState *es)
{
	char		name[32] = "Leader";

	if (number > 0)
		snprintf(name, sizeof(name), "Worker %d", number - 1);
	if (es->format == EXPLAIN_FORMAT_TEXT)
	{
		strcat(name, ":  ");
		explain_counts(counts, name, es);
		return;
	}
	ExplainOpenGroup("Participant", NULL, true, es);
	ExplainPropertyText("Participant", name, es);
	explain_counts(counts, name, es);
	ExplainCloseGroup("Participant", NULL, true, es);
}

void
gpusort_explain_collect(CustomScanState *css, List *ancestors, ExplainState *es)
{
	GpuSortCollectState *node = (GpuSortCollectState *) css;
	GpuSortCollectCounts total = {0};

	if (!es->analyze || node->counts == NULL)
		return;
	for (int i = 0; i < node->participants; i++)
	{
		total.taken += node->counts[i].taken;
		total.gathered += node->counts[i].gathered;
	}
	explain_counts(&total, "", es);
	if (!es->verbose)
		return;
	ExplainOpenGroup("Participants", "Participants", false, es);
	for (int i = 0; i < node->participants; i++)
		if (node->counts[i].took_part)
			explain_participant(&node->counts[i], i, es);
	ExplainCloseGroup("Participants", "Participants", false, es);
}
