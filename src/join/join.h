/*
 * join.h
 *		The node GpuSort Join at run time, and what it has in common with other nodes that join.
 */
#ifndef GPUSORT_JOIN_H
#define GPUSORT_JOIN_H

#include "access/parallel.h"
#include "nodes/execnodes.h"
#include "port/atomics.h"

#include "exec/exec.h"
#include "pg_compat/explain.h"

extern GpuSortNodeKind gpusort_join_kind;

/* ---------- a node that joins: GpuSort Join, and GpuSort Index Join (src/leaves) ---------- */

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

/*
 * What participants that have ended have found.  It is the first field of what a node's
 * participants share in dynamic shared memory.
 */
typedef struct GpuSortJoinCounts
{
	pg_atomic_uint64 ranges;
	pg_atomic_uint64 matches;
} GpuSortJoinCounts;

typedef struct GpuSortJoinNode GpuSortJoinNode;

/*
 * Fills in the report with what this participant has found so far; returns false if it has not
 * begun to join.
 */
typedef bool (*GpuSortReportJoin) (GpuSortJoinNode *node);

struct GpuSortJoinNode
{
	CustomScanState css;		/* must be first field */
	bool		wanted[2];		/* does any expression use columns of the outer, the inner side? */
	ExprState  *filter;			/* further conditions of the join, on pairs; NULL: none */
	ExprState  *qual;			/* conditions on the rows of the result; NULL: none */
	GpuSortJoinCounts *shared;	/* NULL: the query is not parallel, or shared memory has gone */
	bool		done;			/* there are no more rows */
	bool		counted;		/* this participant's counts have been added to the shared ones */
	GpuSortReportJoin make_report;
	GpuSortJoinReport report;
};

/* Begins what is above: how rows are made, and the conditions. */
extern void gpusort_begin_join_node(GpuSortJoinNode *node, GpuSortReportJoin make_report);

/*
 * For InitializeDSMCustomScan: has the participants share this memory.  Returns false if there is
 * nothing to share.
 */
extern bool gpusort_share_join(GpuSortJoinNode *node, ParallelContext *pcxt, void *coordinate);

/* Initializes the counts in shared memory before workers are started, for each execution. */
extern void gpusort_init_join_counts(GpuSortJoinNode *node);

/*
 * Makes the report.  With shared memory, what this participant has found is added to what all have
 * found, once.
 */
extern void gpusort_count_join(GpuSortJoinNode *node);

/* Callbacks: InitializeWorkerCustomScan, ShutdownCustomScan, ExplainCustomScan. */
extern void gpusort_attach_join(CustomScanState *css, shm_toc *toc, void *coordinate);
extern void gpusort_detach_join(CustomScanState *css);
extern void gpusort_join_explain(CustomScanState *css, List *ancestors, ExplainState *es);

#endif							/* GPUSORT_JOIN_H */
