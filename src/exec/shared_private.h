/*
 * shared_private.h
 *		A GpuSort Shared node: its state, and what its participants share.
 */
#ifndef GPUSORT_SHARED_PRIVATE_H
#define GPUSORT_SHARED_PRIVATE_H

#include "access/parallel.h"
#include "executor/tuptable.h"
#include "nodes/execnodes.h"
#include "port/atomics.h"
#include "portability/instr_time.h"
#include "storage/barrier.h"
#include "storage/buffile.h"
#include "storage/dsm.h"
#include "storage/sharedfileset.h"
#include "utils/sharedtuplestore.h"

#include "exec/explain_private.h"
#include "sort/sort.h"
#include "sort/sort_cursor.h"
#include "sort/sort_parts.h"
#include "sort/sort_team.h"
#include "sort/sort_view.h"

/* ---------- refused: rows that the parts of a shared sort have refused ---------- */

/* A participant's access to the store of all refused rows. */
typedef struct GpuSortRefused
{
	SharedTuplestoreAccessor *rows;
	MemoryContext context;		/* the memory context that `rows` was begun in */
} GpuSortRefused;

/* Put a row into the store; and say that this participant has put its last one. */
extern void gpusort_keep_refused(GpuSortRefused *refused, TupleTableSlot *row);
extern void gpusort_finish_refused(GpuSortRefused *refused);

/*
 * Puts all refused rows, which have this descriptor, into the sort.  All participants must have
 * finished writing.
 */
extern void gpusort_put_refused(GpuSortRefused *refused, TupleDesc desc, GpuSort *sort);

/* ---------- result file: the result in a temporary file ---------- */

/* Each participant reads the file. */

typedef struct GpuSortResultFile
{
	BufFile    *file;			/* NULL: not open */

	/* the number of rows, and the position */
	uint64		rows;
	uint64		next;

	/* the row returned last, allocated in `context` */
	MemoryContext context;
	MinimalTuple row;
	Size		row_size;		/* bytes allocated for row */

	/* the marked position */
	int			mark_fileno;
	off_t		mark_offset;
	uint64		mark_next;
} GpuSortResultFile;

/* ---------- result: of a sort that participants have collected ---------- */

/* Each participant reads the result. */

/* Where the result is. */
typedef enum GpuSortResultPlace
{
	GPUSORT_RESULT_VIEW,		/* in the pool, mapped by all */
	GPUSORT_RESULT_PORTIONS,	/* in temporary files; slices are portions of them */
	GPUSORT_RESULT_FILE,		/* in a temporary file, read by all */
	GPUSORT_RESULT_OWN			/* only with the participant that has sorted */
} GpuSortResultPlace;

/* What all participants know of the result.  Lives in dynamic shared memory. */
typedef struct GpuSortSharedResult
{
	pg_atomic_uint32 next_slice;	/* the first slice that no participant has taken */
	pg_atomic_uint32 readers;	/* participants that have begun to read portions */

	/* written by the participant that sorts; read by all when it has published the result */
	GpuSortResultPlace place;
	uint64		nrows;
	uint32		nslices;
	GpuSortSharedPortions portions;
	GpuSortReport report;
} GpuSortSharedResult;

/* A participant's access to the result. */
typedef struct GpuSortResult
{
	/* how the rows are sorted; belongs to the caller */
	const GpuSortSpec *spec;
	TupleDesc	desc;
	int			slice_columns;	/* rows equal in so many stay in a slice; 0: no slices */

	/* what the participants share; belongs to the caller */
	GpuSortSharedResult *shared;	/* NULL: not in a parallel query, or it has ended */
	GpuSortSharedView *room;	/* room for a view; NULL: rows have no place in the pool */
	SharedFileSet *files;

	/* where the rows are: one of these */
	GpuSort    *sort;			/* this participant's own, or one that reads portions */
	GpuSortView view;
	GpuSortResultFile file;

	/* reading the rows, unless they are in a file */
	GpuSortCursor cursor;
	bool		by_slices;		/* the cursor reads one slice at a time, otherwise all rows */
	GpuSortCutter *cutter;		/* finds where slices begin; NULL: slices are portions */
} GpuSortResult;

/* Initializes the shared part, before any participant is started. */
extern void gpusort_init_shared_result(GpuSortSharedResult *shared);

/*
 * Called by the participant that has performed the sort, one of so many participants.  Puts the
 * result where the others find it, or keeps it if only this participant can read it.  The sort is
 * ended, or belongs to the result from now on.
 */
extern void gpusort_publish_result(GpuSortResult *result, GpuSort *sort, int participants,
								   instr_time collect_time);

/*
 * Finds the result, which was published, and goes to its beginning.  Allocates in the current
 * memory context, which must live as long as the result is read.
 */
extern void gpusort_find_result(GpuSortResult *result);

/*
 * Makes this sort the result, where there are no other participants; it is ended with the result.
 */
extern void gpusort_keep_result(GpuSortResult *result, GpuSort *sort);

/*
 * Stores the next row of the result in the slot.  Returns false if there is none left for this
 * participant.
 */
extern bool gpusort_fetch_result(GpuSortResult *result, bool forward, TupleTableSlot *slot);

/*
 * Fills in a view of all rows, valid until the result is closed.  Returns false if they are not all
 * in memory, or if each participant gets only slices.
 */
extern bool gpusort_exec_view_result(const GpuSortResult *result, GpuSortView *view);

/*
 * For a result that is read slice by slice.  gpusort_exec_view_slices() fills in a view if the rows
 * are in memory, and returns whether they are.  gpusort_take_slice() takes the next slice for this
 * participant, positions *from .. *end - 1 of the view, and returns false if there is none left.
 */
extern bool gpusort_exec_view_slices(const GpuSortResult *result, GpuSortView *view);
extern bool gpusort_take_slice(GpuSortResult *result, uint64 *from, uint64 *end);

/*
 * Go back to the beginning of the result, if gpusort_can_rewind_result() says that this is
 * possible; mark the current position; go back to the mark.
 */
extern bool gpusort_can_rewind_result(const GpuSortResult *result, bool random_access);
extern void gpusort_rewind_result(GpuSortResult *result);
extern void gpusort_mark_result(GpuSortResult *result);
extern void gpusort_restore_result(GpuSortResult *result);

/*
 * Closes files and ends the sort, about which the server would complain at the end of the query.
 * Other memory goes with its context.
 */
extern void gpusort_close_result(GpuSortResult *result);

/* ---------- state: of the node, and what its participants share ---------- */

/* Phases of the barrier. */
typedef enum GpuSortSharedPhase
{
	GPUSORT_PHASE_COLLECTING,	/* a participant that attaches now collects */
	GPUSORT_PHASE_SORTING,		/* one participant sorts, the others help */
	GPUSORT_PHASE_READING		/* the result is published */
} GpuSortSharedPhase;

/*
 * Lives in dynamic shared memory.  Behind it lie the store of refused rows, room for a view of the
 * result, and the team that sorts.
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
	GpuSortRefused refused;

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
