/*
 * explain_counts.h
 *		What EXPLAIN ANALYZE says about rows that participants collect.
 */
#ifndef GPUSORT_EXPLAIN_COUNTS_H
#define GPUSORT_EXPLAIN_COUNTS_H

#include "pg_compat/explain.h"

/* What became of the rows that a participant read. */
typedef struct GpuSortCollectCounts
{
	uint64		taken;			/* rows taken into its part, or straight into the sort */
	uint64		dropped;		/* rows of these that the part has dropped, because of the bound */
	uint64		trims;			/* how often the part has looked for rows to drop */
	uint64		from_pages;		/* rows taken straight from their pages */
	uint64		refused;		/* rows that the part has refused: they go another way */
	bool		took_part;
} GpuSortCollectCounts;

/* The counts of all participants of the last execution; number 0 is the leader's. */
typedef struct GpuSortKeptCounts
{
	int			participants;
	GpuSortCollectCounts *counts;	/* NULL: there was no execution */
} GpuSortKeptCounts;

/*
 * Keeps counts in the leader, in this memory context, for EXPLAIN, which comes when the shared
 * memory has gone.
 */
extern void gpusort_keep_counts(GpuSortKeptCounts *kept, const GpuSortCollectCounts *counts,
								int participants, MemoryContext context);

/* Explains, in EXPLAIN VERBOSE, how many rows a node has taken from pages. */
extern void gpusort_explain_from_pages(uint64 rows, ExplainState *es);

/*
 * Explains, in EXPLAIN VERBOSE and if there are some, how many calls of lower() and upper() were
 * saved.
 */
extern void gpusort_explain_calls_saved(uint64 calls, ExplainState *es);

/*
 * Explains how many rows participants have collected.  other_way names what refused rows travel
 * through.
 */
extern void gpusort_explain_counts(const GpuSortKeptCounts *kept, const char *other_way,
								   ExplainState *es);

#endif							/* GPUSORT_EXPLAIN_COUNTS_H */
