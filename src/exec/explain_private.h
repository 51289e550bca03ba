/*
 * explain_private.h
 *		What EXPLAIN says about sorts.
 */
#ifndef GPUSORT_EXPLAIN_PRIVATE_H
#define GPUSORT_EXPLAIN_PRIVATE_H

#include "nodes/execnodes.h"
#include "utils/tuplesort.h"

#include "pg_compat/explain.h"
#include "sort/sort.h"

/* ---------- key: the columns that a node sorts by ---------- */

/*
 * Returns the first ncolumns sort columns of a node that sorts its outer child's rows, as EXPLAIN
 * prints them: a List of char *.
 */
extern List *gpusort_describe_sort(const Plan *sort, const GpuSortSpec *spec, int ncolumns,
								   List *context, bool use_prefix);

/* Explains the first columns of the sort key, under this label, as EXPLAIN does for a Sort node. */
extern void gpusort_explain_columns(CustomScanState *css, const GpuSortSpec *spec, int ncolumns,
									const char *label, List *ancestors, ExplainState *es);

/* Explains the columns of the outer child that a node groups by, as EXPLAIN does for an Agg. */
extern void gpusort_explain_groups(CustomScanState *css, const List *attnos, List *ancestors,
								   ExplainState *es);

/* Explains how the keys are encoded, by the names of their codecs. */
extern void gpusort_explain_encoding(CustomScanState *css, const GpuSortSpec *spec,
									 ExplainState *es);

/* ---------- report: how a sort went, for EXPLAIN ANALYZE ---------- */

/* How a sort went.  It has no pointers, so that it can be in shared memory. */
typedef struct GpuSortReport
{
	bool		performed;
	bool		handed_over;	/* the sort was handed over to tuplesort */
	GpuSortStats stats;
	TuplesortInstrumentation core;
} GpuSortReport;

/* collect_time includes the child's time. */
extern void gpusort_make_report(GpuSort *sort, instr_time collect_time, GpuSortReport *report);
extern void gpusort_explain_report(const GpuSortReport *report, ExplainState *es);
/* Explains a node whose input was empty, so that it began no sort. */
extern void gpusort_explain_no_rows(ExplainState *es);

/* ---------- counts: rows that participants collect, for EXPLAIN ANALYZE ---------- */

/* What became of the rows that a participant read. */
typedef struct GpuSortCollectCounts
{
	uint64		taken;			/* rows taken into its part, or straight into the sort */
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

#endif							/* GPUSORT_EXPLAIN_PRIVATE_H */
