/*
 * explain_node.h
 *		What nodes that sort tell EXPLAIN.
 */
#ifndef GPUSORT_EXPLAIN_NODE_H
#define GPUSORT_EXPLAIN_NODE_H

#include "nodes/execnodes.h"
#include "utils/tuplesort.h"

#include "pg_compat.h"
#include "sort/sort.h"

/* How a sort went; plain data, so that it can be in shared memory. */
typedef struct GpuSortReport
{
	bool		performed;
	bool		handed_over;	/* to tuplesort */
	GpuSortStats stats;
	TuplesortInstrumentation core;
	instr_time	collect_time;	/* the child's time included */
} GpuSortReport;

/* What became of the rows that a participant read. */
typedef struct GpuSortCollectCounts
{
	uint64		taken;			/* into its part, or by a leader into the sort */
	uint64		refused;		/* by the part: they go another way */
	bool		took_part;
} GpuSortCollectCounts;

extern void gpusort_make_report(GpuSort *sort, instr_time collect_time, GpuSortReport *report);
extern void gpusort_explain_report(const GpuSortReport *report, ExplainState *es);

/* By participants, of which number 0 is the leader. */
extern void gpusort_explain_counts(const GpuSortCollectCounts *counts, int participants,
								   const char *other_way, ExplainState *es);

/* The first columns of the sort key. */
extern void gpusort_explain_columns(CustomScanState *css, const GpuSortSpec *spec, int ncolumns,
									const char *label, List *ancestors, ExplainState *es);

/* Names of the codecs at work. */
extern void gpusort_explain_encoding(CustomScanState *css, const GpuSortSpec *spec,
									 ExplainState *es);

#endif							/* GPUSORT_EXPLAIN_NODE_H */
