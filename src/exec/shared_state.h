/*
 * shared_state.h
 *		The state of a GpuSort Shared node, and what its participants share.
 */
#ifndef GPUSORT_SHARED_STATE_H
#define GPUSORT_SHARED_STATE_H

#include "access/parallel.h"
#include "nodes/execnodes.h"
#include "portability/instr_time.h"
#include "storage/barrier.h"
#include "storage/dsm.h"
#include "storage/sharedfileset.h"

#include "exec/explain_counts.h"
#include "exec/explain_report.h"
#include "exec/shared_refused.h"
#include "exec/shared_result.h"
#include "sort/sort_parts.h"
#include "sort/sort_team.h"

/* Phases of the barrier. */
typedef enum GpuSortSharedPhase
{
	GPUSORT_PHASE_COLLECTING,	/* a participant that attaches now collects */
	GPUSORT_PHASE_SORTING,		/* one sorts, the others help */
	GPUSORT_PHASE_READING		/* the result is there */
} GpuSortSharedPhase;

/*
 * In dynamic shared memory; behind it the store of refused rows, room for a view of
 * the result, and the team that sorts.
 */
typedef struct GpuSortShared
{
	/* written before participants are started */
	dsm_handle	segment;		/* that this is in */
	int			participants;	/* that there may be; the leader is number 0 */
	bool		rescanned;		/* with the Gather */
	bool		in_pool;		/* else all rows are refused */
	uint32		parts_number;
	SharedFileSet files;		/* of refused rows, and of the result */

	Barrier		barrier;
	GpuSortSharedResult result;
	GpuSortCollectCounts counts[FLEXIBLE_ARRAY_MEMBER];
} GpuSortShared;

typedef struct GpuSortSharedState
{
	CustomScanState css;		/* must be first field */

	/* what is asked for */
	GpuSortSpec spec;
	int			slice_columns;	/* 0: all rows to each */
	bool		random_access;
	bool		tells_equal;

	/* what the participants share */
	GpuSortShared *shared;		/* NULL: there is no parallel query, or none any more */
	ParallelContext *pcxt;		/* in the leader, with it */
	GpuSortParts *parts;		/* NULL: rows have no place in the pool */
	GpuSortTeam *team;			/* those who wait while one of them sorts */
	GpuSort    *owner;			/* in the leader, of the extents of all */
	GpuSortRefused refused;

	/*
	 * Memory.  The first context lives until the query's memory goes, when no worker is
	 * left: a node is ended before its Gather waits for them.  The second is below it, for
	 * one execution; NULL: nothing has begun.
	 */
	MemoryContext context;
	MemoryContext result_context;

	/* the child */
	List	   *projections;	/* of the scans below */

	/* this execution */
	bool		child_read;		/* since the child was initialised or rescanned */
	bool		ready;			/* rows may be returned */
	instr_time	collect_time;	/* of this participant, for a node above */
	GpuSortResult result;

	/* in the leader, for EXPLAIN, which comes when the shared memory has gone */
	GpuSortReport report;
	GpuSortKeptCounts kept;
} GpuSortSharedState;

#endif							/* GPUSORT_SHARED_STATE_H */
