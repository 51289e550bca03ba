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
	uint64		taken;			/* into its part, or by a leader into the sort */
	uint64		dropped;		/* ... of those, not kept by the part, and how often it */
	uint64		trims;			/* has looked for them (gpusort_note_dropped) */
	uint64		from_pages;		/* ... of those taken, straight from their pages */
	uint64		refused;		/* by the part: they go another way */
	bool		took_part;
} GpuSortCollectCounts;

/* The counts of all participants of the last execution; number 0 is the leader. */
typedef struct GpuSortKeptCounts
{
	int			participants;
	GpuSortCollectCounts *counts;	/* NULL: there was no execution */
} GpuSortKeptCounts;

/*
 * Keep counts in the leader, in this context, for EXPLAIN, which comes when the shared
 * memory has gone.
 */
extern void gpusort_keep_counts(GpuSortKeptCounts *kept, const GpuSortCollectCounts *counts,
								int participants, MemoryContext context);

/* Rows that a node has taken from pages, which EXPLAIN VERBOSE tells. */
extern void gpusort_explain_from_pages(uint64 rows, ExplainState *es);

/* Calls of functions that making these rows has done without: the same, if there are some. */
extern void gpusort_explain_calls_saved(uint64 calls, ExplainState *es);

/* other_way: how refused rows travel. */
extern void gpusort_explain_counts(const GpuSortKeptCounts *kept, const char *other_way,
								   ExplainState *es);

#endif							/* GPUSORT_EXPLAIN_COUNTS_H */
