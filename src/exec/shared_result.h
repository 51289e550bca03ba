/*
 * shared_result.h
 *		The result of a sort that participants have collected, as each of them reads it.
 */
#ifndef GPUSORT_SHARED_RESULT_H
#define GPUSORT_SHARED_RESULT_H

#include "executor/tuptable.h"
#include "port/atomics.h"
#include "storage/sharedfileset.h"

#include "exec/exec_cursor.h"
#include "exec/explain_report.h"
#include "exec/result_file.h"
#include "sort/sort_parts.h"
#include "sort/sort_view.h"

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
extern bool gpusort_view_result(const GpuSortResult *result, GpuSortView *view);

/*
 * For a result that is read slice by slice.  gpusort_view_slices() fills in a view if the rows are
 * in memory, and returns whether they are.  gpusort_take_slice() takes the next slice for this
 * participant, positions *from .. *end - 1 of the view, and returns false if there is none left.
 */
extern bool gpusort_view_slices(const GpuSortResult *result, GpuSortView *view);
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

#endif							/* GPUSORT_SHARED_RESULT_H */
