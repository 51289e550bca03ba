/*
 * shared_result.h
 *		The result of a sort that participants have collected, in each of them.
 */
#ifndef GPUSORT_SHARED_RESULT_H
#define GPUSORT_SHARED_RESULT_H

#include "executor/tuptable.h"
#include "port/atomics.h"
#include "storage/sharedfileset.h"

#include "exec/exec_cursor.h"
#include "exec/explain_report.h"
#include "exec/result_file.h"
#include "sort/portion_share.h"
#include "sort/sort_cuts.h"
#include "sort/view_mapping.h"

/* Where the result is. */
typedef enum GpuSortResultPlace
{
	GPUSORT_RESULT_VIEW,		/* in the pool, for all */
	GPUSORT_RESULT_PORTIONS,	/* in temporary files, to be read back in portions, which are slices */
	GPUSORT_RESULT_FILE,		/* in a temporary file, for all */
	GPUSORT_RESULT_OWN			/* with the participant that has sorted */
} GpuSortResultPlace;

/* What participants know of the result; in dynamic shared memory. */
typedef struct GpuSortSharedResult
{
	pg_atomic_uint32 next_slice;	/* that no participant has taken */
	pg_atomic_uint32 readers;	/* participants that have begun to read portions */

	/* written by the participant that sorts; read by all when it has published */
	GpuSortResultPlace place;
	uint64		nrows;
	uint32		nslices;
	GpuSortSharedPortions portions;
	GpuSortReport report;
} GpuSortSharedResult;

/* A participant's access to the result. */
typedef struct GpuSortResult
{
	/* the sort; the caller's */
	const GpuSortSpec *spec;
	TupleDesc	desc;
	int			slice_columns;	/* that slices don't cut; 0: all rows to each */

	/* what the participants share; the caller's */
	GpuSortSharedResult *shared;	/* NULL: nothing, or nothing any more */
	GpuSortSharedView *room;	/* for a view; NULL: rows have no place in the pool */
	SharedFileSet *files;

	/* the rows: one of these */
	GpuSort    *sort;			/* this participant's own, or one that reads portions */
	GpuSortView view;
	GpuSortResultFile file;

	/* reading them, unless they are in a file */
	GpuSortCursor cursor;
	bool		by_slices;		/* the cursor reads a slice, else all rows */
	GpuSortCutter *cutter;		/* where they are cut; NULL: they are portions */
} GpuSortResult;

/* Before any participant is started. */
extern void gpusort_init_shared_result(GpuSortSharedResult *shared);

/*
 * The sort was performed by this participant, one of so many.  Put its result where the
 * others find it, or keep it; the sort is ended, or the result's own.
 */
extern void gpusort_publish_result(GpuSortResult *result, GpuSort *sort, int participants,
								   instr_time collect_time);

/*
 * The result was published: find it, and go to its beginning.  In the current memory
 * context, which lives as long as the result is read.
 */
extern void gpusort_find_result(GpuSortResult *result);

/* There are no others: the result is that of this sort, which is ended with it. */
extern void gpusort_keep_result(GpuSortResult *result, GpuSort *sort);

/* Store the next row of it in the slot; false if there is none for this participant. */
extern bool gpusort_fetch_result(GpuSortResult *result, bool forward, TupleTableSlot *slot);

/* All rows, if they lie in memory: until the result is closed. */
extern bool gpusort_view_result(const GpuSortResult *result, GpuSortView *view);

/*
 * The same of a result that is read slice by slice, if it lies in memory; and the next slice that is
 * this participant's, as positions of that: false if there is none.
 */
extern bool gpusort_view_slices(const GpuSortResult *result, GpuSortView *view);
extern bool gpusort_take_slice(GpuSortResult *result, uint64 *from, uint64 *end);

/* Go back to its beginning, which is possible if so it says; mark a position, go back to that. */
extern bool gpusort_can_rewind_result(const GpuSortResult *result, bool random_access);
extern void gpusort_rewind_result(GpuSortResult *result);
extern void gpusort_mark_result(GpuSortResult *result);
extern void gpusort_restore_result(GpuSortResult *result);

/* Close what the server would complain about; its memory goes with the context. */
extern void gpusort_close_result(GpuSortResult *result);

#endif							/* GPUSORT_SHARED_RESULT_H */
