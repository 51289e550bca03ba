/*
 * result_file.h
 *		The result of a shared sort in a temporary file, which each participant reads.
 */
#ifndef GPUSORT_RESULT_FILE_H
#define GPUSORT_RESULT_FILE_H

#include "executor/tuptable.h"
#include "storage/buffile.h"
#include "storage/sharedfileset.h"

#include "sort/sort.h"

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

/* Writes all rows of a sort to a file, which other participants can open. */
extern void gpusort_write_result_file(SharedFileSet *files, GpuSort *sort, TupleDesc desc);

/* Opens that file, in the current memory context, at its first row; and closes it. */
extern void gpusort_open_result_file(GpuSortResultFile *file, SharedFileSet *files, uint64 rows);
extern void gpusort_close_result_file(GpuSortResultFile *file);

/* Stores the next row in the slot.  Returns false if there is none. */
extern bool gpusort_fetch_from_file(GpuSortResultFile *file, TupleTableSlot *slot);

/* Go back to the first row, mark the current position, and go back to the mark. */
extern void gpusort_rewind_result_file(GpuSortResultFile *file);
extern void gpusort_mark_result_file(GpuSortResultFile *file);
extern void gpusort_restore_result_file(GpuSortResultFile *file);

#endif							/* GPUSORT_RESULT_FILE_H */
