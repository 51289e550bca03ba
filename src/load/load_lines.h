/*
 * load_lines.h
 *		The lines of an input, and which of them end a row of the table.
 *
 * A row that an index refuses is known by its place in the table, but the error has to name its
 * line.  Between the line of a row and that of the next row there are other lines if WHERE has left
 * out a record, or if a record has newlines between quotes.
 */
#ifndef GPUSORT_LOAD_LINES_H
#define GPUSORT_LOAD_LINES_H

#include "utils/palloc.h"

#include "load/load_order.h"
#include "parse/gs_records.h"

typedef struct GpuSortLoadLines
{
	uint64		count;
	uint8	   *bits;			/* for each line, whether a row ends there; NULL: on every line */
	Size		room;			/* bytes allocated for the bits */
	MemoryContext context;		/* where bits and left_out are allocated */
	bool	   *left_out;		/* records of the batch that WHERE leaves out; NULL: it can't */
	size_t		max_records;
	GpuSortLoadOrder order;		/* the leaf of each row, if some leaves have indexes */
} GpuSortLoadLines;

#define GPUSORT_LINES_BYTES(count)	(((count) + 7) / 8)

/* Begins a batch of records, of which some can be left out. */
extern void gpusort_lines_begin(GpuSortLoadLines *lines, size_t nrecords);

static inline void
gpusort_lines_leave_out(GpuSortLoadLines *lines, size_t record)
{
	if (lines->left_out != NULL)
		lines->left_out[record] = true;
}

/*
 * Appends the lines of the first "nrecords" records of the batch, which are "count" lines.  If
 * "some_left_out" is false, all of these records are rows.
 */
extern void gpusort_lines_note(GpuSortLoadLines *lines, const gs_records *records,
							   const gs_dialect *dialect, const char *data, size_t nrecords,
							   uint64 count, bool some_left_out);

/* Appends the lines of the next part of the input, which were noted elsewhere. */
extern void gpusort_lines_join(GpuSortLoadLines *lines, uint64 count, const uint8 *bits);

/* Forgets all lines, and where the rows went. */
extern void gpusort_lines_clear(GpuSortLoadLines *lines);

/*
 * Returns how many lines there are from line *at, the first one being 0, to the end of the next
 * row, and moves *at to the line behind it.
 */
extern uint64 gpusort_lines_to_row(const GpuSortLoadLines *lines, uint64 *at);

#endif							/* GPUSORT_LOAD_LINES_H */
