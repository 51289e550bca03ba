/*
 * explain_join.h
 *		What EXPLAIN says about a join.
 */
#ifndef GPUSORT_EXPLAIN_JOIN_H
#define GPUSORT_EXPLAIN_JOIN_H

#include "nodes/execnodes.h"

#include "pg_compat/explain.h"

/* What EXPLAIN ANALYZE shows of a join, for all participants together. */
typedef struct GpuSortJoinReport
{
	bool		performed;		/* has the join been executed? */
	bool		streamed;		/* a side did not lie in memory, and was read row by row */
	bool		merged;			/* gpusortd has merged the sides */
	uint64		pieces;			/* number of pieces (join_cuts.h) */
	uint64		ranges;			/* number of ranges that have rows of both sides */
	uint64		matches;		/* number of pairs in these ranges */
} GpuSortJoinReport;

/* Adds a join's properties to EXPLAIN's output. */
extern void gpusort_explain_join(CustomScanState *css, const GpuSortJoinReport *report,
								 List *ancestors, ExplainState *es);

#endif							/* GPUSORT_EXPLAIN_JOIN_H */
