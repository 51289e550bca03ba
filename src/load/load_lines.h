/*
 * load_lines.h
 *		The lines of an input, and which of them end a row of the table.
 *
 * A row that an index refuses is known by its place in the table, and an error has to name its line.  Between one row's line
 * and the next one's there are others if a record was left out or has newlines between quotes.
 */
#ifndef GPUSORT_LOAD_LINES_H
#define GPUSORT_LOAD_LINES_H

#include "utils/palloc.h"

#include "load/load_order.h"
#include "parse/gs_records.h"

typedef struct GpuSortLoadLines
{
	uint64		count;
	uint8	   *bits;			/* of each line: does a row end there?  NULL: on each one */
	Size		room;			/* bytes for them */
	MemoryContext context;		/* where they are */
	bool	   *left_out;		/* records of the batch at hand; or NULL: none can be */
	size_t		max_records;
	GpuSortLoadOrder order;		/* where rows went, if they have partitions with indexes to go to */
} GpuSortLoadLines;

#define GPUSORT_LINES_BYTES(count)	(((count) + 7) / 8)

/* A batch of records begins, of which some can be left out. */
extern void gpusort_lines_begin(GpuSortLoadLines *lines, size_t nrecords);

static inline void
gpusort_lines_leave_out(GpuSortLoadLines *lines, size_t record)
{
	if (lines->left_out != NULL)
		lines->left_out[record] = true;
}

/* Lines of the batch's first so many records, which have so many: all of them are rows, or some were left out. */
extern void gpusort_lines_note(GpuSortLoadLines *lines, const gs_records *records, const gs_dialect *dialect, const char *data,
							   size_t nrecords, uint64 count, bool some_left_out);

/* Those of another part of the input. */
extern void gpusort_lines_join(GpuSortLoadLines *lines, uint64 count, const uint8 *bits);

/* Forget all of them, and where rows went. */
extern void gpusort_lines_clear(GpuSortLoadLines *lines);

/* From the line before "at" on, how many lines to the end of the next row?  "at" becomes the one behind that. */
extern uint64 gpusort_lines_to_row(const GpuSortLoadLines *lines, uint64 *at);

#endif							/* GPUSORT_LOAD_LINES_H */
