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

	/* the position */
	uint64		rows;
	uint64		next;

	/* the row returned last */
	MemoryContext context;
	MinimalTuple row;
	Size		row_size;		/* allocated */

	/* the mark */
	int			mark_fileno;
	off_t		mark_offset;
	uint64		mark_next;
} GpuSortResultFile;

/* Write all rows of a sort to a file that the others can open. */
extern void gpusort_write_result_file(SharedFileSet *files, GpuSort *sort, TupleDesc desc);

/* Open it, in the current memory context, and go to its first row. */
extern void gpusort_open_result_file(GpuSortResultFile *file, SharedFileSet *files, uint64 rows);
extern void gpusort_close_result_file(GpuSortResultFile *file);

/* Store the next row in the slot; false if there is none. */
extern bool gpusort_fetch_from_file(GpuSortResultFile *file, TupleTableSlot *slot);

/* Go back to the first row, mark a position, go back to that. */
extern void gpusort_rewind_result_file(GpuSortResultFile *file);
extern void gpusort_mark_result_file(GpuSortResultFile *file);
extern void gpusort_restore_result_file(GpuSortResultFile *file);

#endif							/* GPUSORT_RESULT_FILE_H */
