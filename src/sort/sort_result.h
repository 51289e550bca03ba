/*
 * sort_result.h
 *		The result of a sort, as one process reads it, wherever the rows are.
 *
 * Whoever reads sorted rows asks a result for them, and need not know whether this process has
 * sorted alone, or with others that read the result as well; nor whether the rows lie in memory, in
 * temporary files that are read back in portions, or in a tuplesort, or were passed on one by one.
 *
 * The rows that this process is to have come in *stretches*, positions that follow each other.
 * They are one stretch if all rows are for this process.  If several processes divide the rows,
 * each takes *slices* from a counter that they share, and a slice is a stretch.  Rows that are
 * equal in the columns by which rows are sliced are never in different stretches.
 *
 * Life of the result of a sort of one process, whose owner ends the sort:
 *
 *		gpusort_perform(), gpusort_result_open(), gpusort_result_fetch() ...
 *
 * and of a sort whose rows participants have collected (sort_parts.h):
 *
 *	all				fill in what is asked for, and what they share
 *	one of them		gpusort_perform(), gpusort_result_publish()
 *	all				gpusort_result_find(), gpusort_result_fetch() ..., gpusort_result_close()
 */
#ifndef GPUSORT_SORT_RESULT_H
#define GPUSORT_SORT_RESULT_H

#include "port/atomics.h"
#include "storage/buffile.h"
#include "storage/sharedfileset.h"
#include "utils/dsa.h"

#include "sort/sort.h"
#include "sort/sort_cursor.h"
#include "sort/sort_parts.h"
#include "sort/sort_view.h"

/* ---------- rows that one participant passes to others ---------- */

/*
 * Rows that can't be in the pool, or that no sort has taken in: of the query's shared memory they
 * take up to work_mem, and what is more goes to a temporary file.  One participant writes them, and
 * when it has ended, each may read them, in the same order.  They are freed by who is the only one
 * to read them, or before the next execution; else they go with the query, also after an error.
 */

/* Lives in dynamic shared memory. */
typedef struct GpuSortPassedRows
{
	uint64		count;
	uint64		in_blocks;		/* so many are in shared memory; the others in the file */
	Size		block_bytes;
	dsa_pointer first;			/* the first block */
} GpuSortPassedRows;

typedef struct GpuSortPassedBlock GpuSortPassedBlock;

/* Where such rows are. */
typedef struct GpuSortRowPlace
{
	GpuSortPassedRows *rows;
	dsa_area   *area;
	SharedFileSet *files;
	char		name[32];		/* the file's */
} GpuSortRowPlace;

typedef struct GpuSortRowWriter
{
	GpuSortRowPlace place;
	GpuSortPassedBlock *block;	/* the last one; NULL: none has begun */
	Size		room;			/* bytes that are left in it */
	BufFile    *file;			/* NULL: not begun */
	MemoryContext context;
} GpuSortRowWriter;

typedef struct GpuSortRowPosition
{
	uint64		next;			/* number of the row that is read next */
	GpuSortPassedBlock *block;
	Size		offset;			/* in the block */
	int			fileno;			/* of a mark */
	off_t		file_offset;
} GpuSortRowPosition;

typedef struct GpuSortRowReader
{
	bool		is_open;
	uint64		count;
	uint64		in_blocks;
	GpuSortRowPlace place;
	GpuSortPassedBlock *first;
	BufFile    *file;			/* NULL: no row is in a file */
	GpuSortRowPosition at;
	GpuSortRowPosition mark;

	/* the row that was read from the file last, allocated in `context` */
	MemoryContext context;
	MinimalTuple row;
	Size		row_size;		/* bytes allocated for row */
} GpuSortRowReader;

/* Before any participant is started; and when nobody reads the rows any more. */
extern void gpusort_passed_init(GpuSortPassedRows *rows);
extern void gpusort_passed_free(GpuSortPassedRows *rows, dsa_area *area);

/*
 * Write rows.  The writer allocates in the memory context that was current at its beginning.
 */
extern void gpusort_pass_begin(GpuSortRowWriter *writer, const GpuSortRowPlace *place);
extern void gpusort_pass_row(GpuSortRowWriter *writer, MinimalTuple row);
extern void gpusort_pass_end(GpuSortRowWriter *writer);

/*
 * Read rows, after they were written, from the first one on.  A row is valid until the next one is
 * read; gpusort_passed_next() returns NULL behind the last one.
 */
extern void gpusort_passed_open(GpuSortRowReader *reader, const GpuSortRowPlace *place);
extern MinimalTuple gpusort_passed_next(GpuSortRowReader *reader);
extern void gpusort_passed_rewind(GpuSortRowReader *reader);
extern void gpusort_passed_mark(GpuSortRowReader *reader);
extern void gpusort_passed_restore(GpuSortRowReader *reader);
extern void gpusort_passed_close(GpuSortRowReader *reader);

/* ---------- what participants share ---------- */

/* Where the result of a sort is whose rows participants have collected. */
typedef enum GpuSortResultPlace
{
	GPUSORT_RESULT_VIEW,		/* in the pool, mapped by all */
	GPUSORT_RESULT_PORTIONS,	/* in temporary files; slices are portions of them */
	GPUSORT_RESULT_PASSED,		/* passed by the one that has sorted to all */
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
	GpuSortPassedRows passed;
} GpuSortSharedResult;

/* Initializes what is shared, before any participant is started. */
extern void gpusort_result_init(GpuSortSharedResult *shared);

/* ---------- a result ---------- */

typedef struct GpuSortResult
{
	/* reading the rows, unless they were passed */
	GpuSortCursor cursor;
	bool		by_slices;		/* the cursor reads one slice at a time, otherwise all rows */

	/* where the rows are: one of these */
	GpuSort    *sort;			/* this process's own, or one that reads portions */
	GpuSortView view;
	GpuSortRowReader passed;
	GpuSortCutter *cutter;		/* finds where slices begin; NULL: slices are portions */

	/*
	 * The rest is filled in by a participant before it publishes or finds the result, and belongs
	 * to that.  First, how the rows are sorted.
	 */
	const GpuSortSpec *spec;
	TupleDesc	desc;
	int			slice_columns;	/* rows equal in so many stay in a slice; 0: no slices */

	/* what the participants share */
	GpuSortSharedResult *shared;	/* NULL: not in a parallel query, or it has ended */
	GpuSortSharedView *room;	/* room for a view; NULL: rows have no place in the pool */
	/* if the rows can't be there */
	dsa_area   *area;
	SharedFileSet *files;
} GpuSortResult;

/* ---------- opening and closing ---------- */

/* Opens the result of a sort of this process that was performed, and goes to its beginning. */
extern void gpusort_result_open(GpuSortResult *result, GpuSort *sort);

/*
 * Called by the participant that has performed the sort, one of so many participants.  Puts the
 * result where the others find it, and returns false; the caller then has to end the sort.  Or
 * keeps the sort and returns true, if only this participant can read it.
 */
extern bool gpusort_result_publish(GpuSortResult *result, GpuSort *sort, int participants);

/*
 * Finds the result, which was published, and goes to its beginning.  Allocates in the current
 * memory context, which must live as long as the result is read.
 */
extern void gpusort_result_find(GpuSortResult *result);

/*
 * Closes files and ends the sort, about which the server would complain at the end of the query.
 * Other memory goes with its context.
 */
extern void gpusort_result_close(GpuSortResult *result);

/* ---------- rows one after the other ---------- */

/*
 * The slow path of gpusort_result_fetch(): the rows were passed, or the stretch that the cursor
 * reads has ended.
 */
extern bool gpusort_result_fetch_other(GpuSortResult *result, bool forward, TupleTableSlot *slot);

/*
 * Stores the next row for this process in the slot.  Returns false if there is none left.
 */
static pg_always_inline bool
gpusort_result_fetch(GpuSortResult *result, bool forward, TupleTableSlot *slot)
{
	return likely(gpusort_cursor_fetch(&result->cursor, forward, slot)) ||
		gpusort_result_fetch_other(result, forward, slot);
}

/*
 * Go back to the beginning of the result, if gpusort_result_can_rewind() says that this is
 * possible; mark the current position; go back to the mark.
 */
extern bool gpusort_result_can_rewind(const GpuSortResult *result, bool random_access);
extern void gpusort_result_rewind(GpuSortResult *result);
extern void gpusort_result_mark(GpuSortResult *result);
extern void gpusort_result_restore(GpuSortResult *result);

/* ---------- rows by position ---------- */

/* Returns whether all rows are for this process, none for others alone. */
extern bool gpusort_result_is_whole(const GpuSortResult *result);

/*
 * Fills in a view of the result, valid until the result is closed.  If the result is not whole,
 * this process is to read only the stretches that it takes.  Returns false if the rows are not all
 * stored in memory.
 */
extern bool gpusort_result_view(const GpuSortResult *result, GpuSortView *view);

/*
 * Opens a cursor of the caller's own on the result, for gpusort_cursor_row() with positions of
 * stretches that this process has taken; valid until the result is closed.  Returns false if rows
 * can only be had one after the other.  This is possible more often than a view is: rows may be in
 * temporary files, or made of their keys.
 */
extern bool gpusort_result_cursor(const GpuSortResult *result, GpuSortCursor *cursor);

/*
 * Returns a bitmap by position of rows that are equal to the row before, as in a view, or NULL if
 * it is not known which are.
 */
extern const uint64 *gpusort_result_equal(const GpuSortResult *result);

/*
 * Takes the next stretch for this process, positions *from .. *end - 1 of a view or cursor.
 * Returns false if there is none left.
 */
extern bool gpusort_result_next_stretch(GpuSortResult *result, uint64 *from, uint64 *end);

/* ---------- all rows of a sort of this process, a view at a time ---------- */

/*
 * Makes a view of rows of a performed sort from a position on: of all of them, or, if the sort has
 * spilled, of a portion, which makes older views invalid.  The first row of the view is the one at
 * that position, which is 0, or the first one of a portion that this process has taken, or what the
 * last call has returned: the position behind the rows of the view.
 */
extern uint64 gpusort_result_window(GpuSort *sort, uint64 position, GpuSortView *view);

#endif							/* GPUSORT_SORT_RESULT_H */
