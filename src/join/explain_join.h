/*
 * explain_join.h
 *		What EXPLAIN says about a join.
 */
#ifndef GPUSORT_EXPLAIN_JOIN_H
#define GPUSORT_EXPLAIN_JOIN_H

#include "nodes/execnodes.h"

#include "pg_compat/explain.h"

/* What all participants have found. */
typedef struct GpuSortJoinReport
{
	bool		performed;
	bool		streamed;		/* some side did not lie in memory */
	bool		merged;			/* gpusortd has merged the sides */
	uint64		pieces;
	uint64		ranges;			/* of rows with the same key on both sides */
	uint64		matches;		/* pairs in them */
} GpuSortJoinReport;

extern void gpusort_explain_join(CustomScanState *css, const GpuSortJoinReport *report,
								 List *ancestors, ExplainState *es);

#endif							/* GPUSORT_EXPLAIN_JOIN_H */
