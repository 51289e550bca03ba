/*
 * load_rows_private.h
 *		Records of an input into rows, by one participant, and what is known of both afterwards.
 */
#ifndef GPUSORT_LOAD_ROWS_PRIVATE_H
#define GPUSORT_LOAD_ROWS_PRIVATE_H

#include "commands/copy.h"
#include "storage/buffile.h"
#include "utils/dsa.h"
#include "utils/palloc.h"

#include "load/load_partitions_private.h"
#include "load/load_values_private.h"
#include "parse/gs_parse.h"

/* ---------- counts: what has become of the records of an input ---------- */

typedef struct GpuSortLoadCounts
{
	uint64		rows;
	uint64		excluded;		/* records that WHERE has left out */
	uint64		lines;			/* of all these records, as the server counts lines */
} GpuSortLoadCounts;

static inline void
gpusort_load_add_counts(GpuSortLoadCounts *sum, const GpuSortLoadCounts *counts)
{
	sum->rows += counts->rows;
	sum->excluded += counts->excluded;
	sum->lines += counts->lines;
}

/* ---------- order: which partition each row of an input went to ---------- */

/*
 * In each partition, rows are in the order of the input.  What is kept here gives the order among
 * the rows of all partitions.  It is the number of each row's leaf, which is GPUSORT_NO_LEAF for
 * all partitions without indexes (load_partitions_private.h).
 */

typedef struct GpuSortLoadOrder
{
	BufFile    *file;			/* the leaves of the first rows, or NULL */
	uint64		filed;			/* rows in the file */
	GpuSortLeafNumber *leaves;	/* the leaves of the rows behind these */
	uint64		kept;			/* rows in memory */
	uint64		room;			/* rows that there is memory for */
	uint64	   *rows;			/* by leaf, how many rows it has got; or NULL: nobody asks */
	MemoryContext context;		/* where all of this is allocated */
	dsa_area   *area;			/* where participants leave their rows; NULL: there is only one */
} GpuSortLoadOrder;

/* Makes room in memory for this many more rows. */
extern void gpusort_load_order_grow(GpuSortLoadOrder *order, uint64 more);

/* Appends a row that went to this leaf. */
static inline void
gpusort_order_add(GpuSortLoadOrder *order, GpuSortLeafNumber leaf)
{
	if (unlikely(order->kept == order->room))
		gpusort_load_order_grow(order, 1);
	order->leaves[order->kept++] = leaf;
}

/*
 * Appends the rows of the next part of the input.  If there are too many for memory, rows are
 * written to the file.
 */
extern void gpusort_load_order_join(GpuSortLoadOrder *order, const GpuSortLeafNumber *leaves,
									uint64 count);

/*
 * gpusort_load_order_leave() copies the rows in memory into the area, and returns where they are.
 * gpusort_load_order_take() appends "count" rows that another participant has left in the area, and
 * frees them there.
 */
extern dsa_pointer gpusort_load_order_leave(const GpuSortLoadOrder *order);
extern void gpusort_load_order_take(GpuSortLoadOrder *order, dsa_pointer left, uint64 count);

/* ---------- lines of an input, and which of them end a row of the table ---------- */

/*
 * A row that an index refuses is known by its place in the table, but the error has to name its
 * line.  Between the line of a row and that of the next row there are other lines if WHERE has left
 * out a record, or if a record has newlines between quotes.
 */

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

/* Reads where rows went, and on which lines they end, in the order of their lines. */
typedef struct GpuSortLineReader
{
	const GpuSortLoadLines *lines;
	uint64		row;			/* how many rows have been read */
	uint64		line;			/* lines up to the end of the row that was read last */
	GpuSortLeafNumber *buffer;	/* a piece of the order's file */
	uint64		begin;			/* the rows whose leaves are in the buffer, up to "end" */
	uint64		end;
} GpuSortLineReader;

/* Begins to read; the reader has to be ended. */
extern void gpusort_lines_read(GpuSortLineReader *reader, const GpuSortLoadLines *lines);

/*
 * Reads the next row, which must be there, and returns its leaf: GPUSORT_ONLY_LEAF if the table is
 * not partitioned.
 */
extern GpuSortLeafNumber gpusort_lines_next(GpuSortLineReader *reader);

extern void gpusort_lines_read_end(GpuSortLineReader *reader);

/* Returns how many lines there are up to the end of a row, which has this place, from 1 on, among
 * those of its leaf. */
extern uint64 gpusort_lines_of_row(const GpuSortLoadLines *lines, GpuSortLeafNumber leaf,
								   uint64 place);

/* ---------- loader ---------- */

/*
 * Turning records of a COPY's input into tuples in private pages, by one participant.
 */

typedef struct GpuSortLoader GpuSortLoader;

/* Why reading stopped. */
typedef enum GpuSortLoadStop
{
	GPUSORT_LOAD_END,			/* no other record ends in the buffer */
	GPUSORT_LOAD_ODD,			/* the next record is odd: left to PostgreSQL's COPY */
	GPUSORT_LOAD_TOAST			/* the next row needs the toaster, which may not be used */
} GpuSortLoadStop;

/* The bytes that are to be read, and what has been read of them. */
typedef struct GpuSortLoadInput
{
	const char *data;			/* must begin with a record */
	Size		bytes;
	bool		at_end;			/* the input ends with these bytes */
	bool		may_toast;		/* the leader may, if none of its rows will be forgotten */
	const gs_records *found;	/* by a device, and believed as far as it is proven; or NULL */

	Size		consumed;		/* where the next record begins */
	GpuSortLoadCounts counts;	/* of the records that were read */
	bool		decoded_toast;	/* rows have TOAST chunks that logical decoding keeps in memory */
	bool		mistaken;		/* what the device has found is wrong */
	GpuSortLoadStop stop;
} GpuSortLoadInput;

/*
 * Returns what forms rows of a table, allocated in the current context.  "parts" is used if the
 * table is partitioned.
 */
extern GpuSortLoader *gpusort_loader_begin(const GpuSortLoadTask *task, Relation table,
										   GpuSortLoadParts *parts);

/*
 * Returns where rows go when they are read: the caller gives them their places, in the order of the
 * input, and writes or forgets them.
 */
extern GpuSortTableSink *gpusort_loader_sink(GpuSortLoader *loader);

/*
 * Reads the records of a buffer, as far as possible.  A record that something is wrong with does
 * not raise an error, but stops the reading with GPUSORT_LOAD_ODD.
 */
extern void gpusort_loader_read(GpuSortLoader *loader, GpuSortLoadInput *input);

/* Returns the lines of the records that were read last, if the table has indexes. */
extern const GpuSortLoadLines *gpusort_loader_lines(const GpuSortLoader *loader);

/*
 * Tells the loader to leave the order of its rows among partitions to other participants in this
 * area, if anybody asks for that order.
 */
extern void gpusort_loader_share_order(GpuSortLoader *loader, dsa_area *area);

/*
 * Called if reading was stopped by a record that is left to PostgreSQL's COPY: hands over the
 * values of sequences that were taken for it.
 */
extern void gpusort_loader_hand_over(GpuSortLoader *loader, CopyFromState copy);

extern void gpusort_loader_end(GpuSortLoader *loader);

#endif							/* GPUSORT_LOAD_ROWS_PRIVATE_H */
