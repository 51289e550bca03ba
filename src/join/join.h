/*
 * join.h
 *		The node GpuSort Join at run time, and what EXPLAIN says about joins.
 */
#ifndef GPUSORT_JOIN_H
#define GPUSORT_JOIN_H

#include "nodes/execnodes.h"

#include "pg_compat/explain.h"

/* Registers the node's methods, so that the server finds them by the node's name. */
extern void gpusort_register_join(void);

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

#endif							/* GPUSORT_JOIN_H */
