/*
 * exec_shared.h
 *		The GpuSort Shared node, its shared memory, and the result of its sort.
 */
#ifndef GPUSORT_EXEC_SHARED_H
#define GPUSORT_EXEC_SHARED_H

#include "nodes/execnodes.h"
#include "storage/barrier.h"
#include "storage/buffile.h"
#include "storage/dsm.h"
#include "storage/sharedfileset.h"
#include "utils/sharedtuplestore.h"

#include "exec/exec_cursor.h"
#include "exec/explain_node.h"
#include "sort/sort_cuts.h"
#include "sort/sort_parts.h"

/* Phases of the barrier. */
typedef enum GpuSortSharedPhase
{
	GPUSORT_PHASE_COLLECTING,	/* who attaches now collects */
	GPUSORT_PHASE_SORTING,		/* one sorts, the others wait */
	GPUSORT_PHASE_READING		/* the result is there */
} GpuSortSharedPhase;

/* Where the result is. */
typedef enum GpuSortResultPlace
{
	GPUSORT_RESULT_VIEW,		/* in the pool, for all */
	GPUSORT_RESULT_FILE,		/* in a temporary file, for all */
	GPUSORT_RESULT_OWN			/* with the participant that has sorted */
} GpuSortResultPlace;

/*
 * In dynamic shared memory; behind it the store of refused rows, and room for a view of
 * the result.
 */
typedef struct GpuSortShared
{
	/* written before participants are started */
	dsm_handle	segment;		/* that this is in */
	int			participants;	/* that there may be; the leader is number 0 */
	bool		in_pool;		/* else all rows are refused */
	uint32		parts_number;
	SharedFileSet files;		/* of refused rows, and of the result */

	Barrier		barrier;
	pg_atomic_uint32 next_slice;	/* that nobody has taken */

	/* written by the participant that sorts; read in the phase after */
	GpuSortResultPlace place;
	uint64		nrows;
	uint32		nslices;
	GpuSortReport report;

	GpuSortCollectCounts counts[FLEXIBLE_ARRAY_MEMBER];
} GpuSortShared;

typedef struct GpuSortSharedState
{
	CustomScanState css;		/* must be first field */
	GpuSortSpec spec;
	int			slice_columns;	/* 0: all rows to each */
	bool		random_access;
	bool		child_read;		/* since the child was initialised or rescanned */

	/*
	 * Lives until the query's memory goes, when no worker is left: a node is ended
	 * before its Gather waits for them.
	 */
	MemoryContext context;
	GpuSort    *owner;			/* in the leader, of the extents of all */

	GpuSortShared *shared;		/* NULL: there is no parallel query, or none any more */
	GpuSortParts *parts;		/* NULL: rows have no place in the pool */

	/* of this execution */
	MemoryContext result_context;	/* below context; NULL: nothing has begun */
	SharedTuplestoreAccessor *refused;
	bool		ready;			/* rows may be returned: */
	GpuSort    *sort;			/* the result, if it is this participant's own */
	GpuSortView view;			/* ... if it is a view */
	BufFile    *file;			/* ... if it is a file */
	GpuSortCursor cursor;		/* unless it is a file */
	bool		in_slices;		/* the cursor reads what was claimed */
	GpuSortCutter *cutter;

	/* the position in the file */
	uint64		file_rows;
	uint64		file_next;
	MinimalTuple file_row;
	Size		file_row_size;	/* allocated */
	int			mark_fileno;
	off_t		mark_offset;
	uint64		mark_file_next;

	/* in the leader, for EXPLAIN, which comes when the shared memory has gone */
	GpuSortReport report;
	int			participants;
	GpuSortCollectCounts *counts;
} GpuSortSharedState;

/* The room for a view. */
extern GpuSortSharedView *gpusort_shared_view(GpuSortShared *shared);

/*
 * shared_refused.c: rows that the parts refuse.  The leader makes the store, workers
 * find it; each puts rows in, and finishes; then one puts all of them into the sort.
 */
extern void gpusort_begin_refused(GpuSortSharedState *node, SharedTuplestore *store,
								  MemoryContext context);
extern void gpusort_keep_refused(GpuSortSharedState *node, TupleTableSlot *row);
extern void gpusort_finish_refused(GpuSortSharedState *node);
extern void gpusort_put_refused(GpuSortSharedState *node, GpuSort *sort);

/*
 * shared_result.c: the sort was performed by this participant.  Put its result where the
 * others find it, or keep it; the sort is ended, or the node's own result.
 */
extern void gpusort_publish_result(GpuSortSharedState *node, GpuSort *sort,
								   instr_time collect_time);

/* The result was published: find it, and go to its beginning. */
extern void gpusort_find_result(GpuSortSharedState *node);

/* Store the next row of it in the slot; false if there is none for this participant. */
extern bool gpusort_fetch_result(GpuSortSharedState *node, bool forward, TupleTableSlot *slot);

/* Go back to its beginning, mark a position, go back to that. */
extern void gpusort_rewind_result(GpuSortSharedState *node);
extern void gpusort_mark_result(GpuSortSharedState *node);
extern void gpusort_restore_result(GpuSortSharedState *node);

/* Close what the server would complain about. */
extern void gpusort_close_result(GpuSortSharedState *node);

#endif							/* GPUSORT_EXEC_SHARED_H */
