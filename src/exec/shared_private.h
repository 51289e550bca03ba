/*
 * shared_private.h
 *		A GpuSort Shared node: its state, and what its participants share.
 */
#ifndef GPUSORT_SHARED_PRIVATE_H
#define GPUSORT_SHARED_PRIVATE_H

#include "access/parallel.h"
#include "executor/tuptable.h"
#include "nodes/execnodes.h"
#include "portability/instr_time.h"
#include "storage/barrier.h"
#include "storage/dsm.h"
#include "storage/sharedfileset.h"

#include "exec/explain_private.h"
#include "sort/sort.h"
#include "sort/sort_parts.h"
#include "sort/sort_result.h"

/* ---------- state: of the node, and what its participants share ---------- */

/* Phases of the barrier. */
typedef enum GpuSortSharedPhase
{
	GPUSORT_PHASE_COLLECTING,	/* a participant that attaches now collects */
	GPUSORT_PHASE_SORTING,		/* one participant sorts, the others help */
	GPUSORT_PHASE_READING		/* the result is published */
} GpuSortSharedPhase;

/*
 * Lives in dynamic shared memory.  Behind it lie the rows that each participant's part has refused,
 * room for a view of the result, and the team that sorts.
 */
typedef struct GpuSortShared
{
	/* written before participants are started */
	dsm_handle	segment;		/* the segment that this struct is in */
	int			participants;	/* at most; the leader is number 0 */
	bool		rescanned;		/* the Gather was rescanned */
	bool		in_pool;		/* parts are in the pool; otherwise all rows are refused */
	uint32		parts_number;
	SharedFileSet files;		/* of refused rows, and of the result */

	Barrier		barrier;
	GpuSortSharedResult result;
	GpuSortReport report;		/* of the participant that has sorted */
	GpuSortCollectCounts counts[FLEXIBLE_ARRAY_MEMBER];
} GpuSortShared;

typedef struct GpuSortSharedState
{
	CustomScanState css;		/* must be first field */

	/* what is asked for */
	GpuSortSpec spec;
	int			slice_columns;	/* rows equal in so many stay in a slice; 0: no slices */
	bool		random_access;
	bool		tells_equal;

	/* what the participants share */
	GpuSortShared *shared;		/* NULL: there is no parallel query, or it has ended */
	ParallelContext *pcxt;		/* in the leader, set and reset with `shared` */
	GpuSortParts *parts;		/* NULL: rows have no place in the pool */
	GpuSortTeam *team;			/* participants that help while one of them sorts */
	GpuSort    *owner;			/* in the leader: owns all extents */
	GpuSortRowWriter refused;	/* rows that this participant's part has refused */

	/*
	 * `context` lives until the query's memory goes, when no worker is left; a node is ended
	 * earlier, before its Gather waits for the workers.  `result_context` is a child of it, for one
	 * execution; NULL if none has begun.
	 */
	MemoryContext context;
	MemoryContext result_context;

	/* the child's rows */
	List	   *projections;	/* of the scans that the child reads */

	/* this execution */
	bool		child_read;		/* was read since it was initialized or rescanned */
	bool		ready;			/* the result may be read */
	instr_time	collect_time;	/* of this participant, for a node above */
	GpuSortResult result;

	/* in the leader, for EXPLAIN, which comes when the shared memory has gone */
	GpuSortReport report;
	GpuSortKeptCounts kept;
} GpuSortSharedState;

/* Returns where the rows are that the part of participant number i has refused. */
extern GpuSortRowPlace gpusort_place_of_refused(const GpuSortSharedState *node, int i);

/* ---------- memory: what participants share, and the memory of one execution ---------- */

/* Methods of the node that the server calls. */
extern Size gpusort_estimate_shared(CustomScanState *css, ParallelContext *pcxt);
extern void gpusort_initialize_shared(CustomScanState *css, ParallelContext *pcxt,
									  void *coordinate);
extern void gpusort_reinitialize_shared(CustomScanState *css, ParallelContext *pcxt,
										void *coordinate);
extern void gpusort_attach_shared(CustomScanState *css, shm_toc *toc, void *coordinate);

/*
 * Called when the shared memory is about to go, and no further row will be fetched.  Workers may
 * still be running, if the leader has stopped early.
 */
extern void gpusort_detach_shared(CustomScanState *css);

/*
 * Returns the memory context of all that one execution allocates; and forgets that execution, with
 * its result.
 */
extern MemoryContext gpusort_shared_context(GpuSortSharedState *node);
extern void gpusort_shared_forget(GpuSortSharedState *node);

/* Keeps the counts of rows that participants have collected, for EXPLAIN. */
extern void gpusort_shared_keep_counts(GpuSortSharedState *node, const GpuSortCollectCounts *counts,
									   int participants);

/* ---------- sort: one by all participants of a Gather ---------- */

/*
 * Reads the child, sorts with the other participants or alone, and goes to the beginning of the
 * result.
 */
extern void gpusort_shared_make_result(PlanState *node);

#endif							/* GPUSORT_SHARED_PRIVATE_H */
