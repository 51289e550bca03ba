/*
 * load_rows.h
 *		Turning records of a COPY's input into tuples in private pages, by one participant.
 */
#ifndef GPUSORT_LOAD_ROWS_H
#define GPUSORT_LOAD_ROWS_H

#include "commands/copy.h"

#include "load/load_counts.h"
#include "load/load_lines.h"
#include "load/load_parts.h"
#include "load/load_task.h"
#include "parse/gs_records.h"

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
 * To be called before rows are read, so that they go on where the table's last page ends.  The rows
 * of partitions do so in any case.
 */
extern void gpusort_loader_continue(GpuSortLoader *loader);

/*
 * Reads the records of a buffer, as far as possible.  A record that something is wrong with does
 * not raise an error, but stops the reading with GPUSORT_LOAD_ODD.
 */
extern void gpusort_loader_read(GpuSortLoader *loader, GpuSortLoadInput *input);

/* Returns the lines of the records that were read last, if the table has indexes. */
extern const GpuSortLoadLines *gpusort_loader_lines(const GpuSortLoader *loader);

/*
 * Tells the loader to leave the order of its rows among partitions to other participants in this
 * area, if anybody asks for that order (load_order.h).
 */
extern void gpusort_loader_share_order(GpuSortLoader *loader, dsa_area *area);

/*
 * Called if reading was stopped by a record that is left to PostgreSQL's COPY: hands over the
 * values of sequences that were taken for it.
 */
extern void gpusort_loader_hand_over(GpuSortLoader *loader, CopyFromState copy);

/*
 * Put the rows that were read into the table.  gpusort_loader_place() gives them their places, in
 * the order of the input.  gpusort_loader_write() writes their pages; with "keep_last", a last page
 * that is not full may be kept, to be filled further.  If writing is "put_off", other participants
 * may have their turn between the two.  "decode_end" says that whatever was toasted for these rows,
 * later rows won't refer to it.
 */
extern void gpusort_loader_place(GpuSortLoader *loader, bool put_off, bool decode_end);
extern void gpusort_loader_write(GpuSortLoader *loader, bool keep_last, bool decode_end);

/* Forgets the rows that were read, instead of putting them into the table. */
extern void gpusort_loader_forget(GpuSortLoader *loader);

extern void gpusort_loader_end(GpuSortLoader *loader);

#endif							/* GPUSORT_LOAD_ROWS_H */
