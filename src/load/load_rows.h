/*
 * load_rows.h
 *		Records of a COPY's input into tuples in private pages, by one participant.
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
	GPUSORT_LOAD_ODD,			/* the next record is PostgreSQL's to look at */
	GPUSORT_LOAD_TOAST			/* the next row needs the toaster, which may not be used */
} GpuSortLoadStop;

/* Bytes to be read, and what was. */
typedef struct GpuSortLoadInput
{
	const char *data;			/* begins with a record */
	Size		bytes;
	bool		at_end;			/* of the input */
	bool		may_toast;		/* the leader may, if no row may be in vain */
	const gs_records *found;	/* what a device says; it is believed as far as it is proven.  Or NULL */

	Size		consumed;		/* where the next record begins */
	GpuSortLoadCounts counts;	/* of the records that were read */
	bool		decoded_toast;	/* rows have chunks in a TOAST table, which logical decoding keeps in memory */
	bool		mistaken;		/* what the device says is wrong */
	GpuSortLoadStop stop;
} GpuSortLoadInput;

/* In the current context.  "parts" are for a table that is partitioned. */
extern GpuSortLoader *gpusort_loader_begin(const GpuSortLoadTask *task, Relation table, GpuSortLoadParts *parts);

/* Before rows are read: they go on where the table's last page ends.  Those of partitions do so in any case. */
extern void gpusort_loader_continue(GpuSortLoader *loader);

/*
 * Read the records of a buffer, as far as possible.  What is wrong with one is not an error, but
 * GPUSORT_LOAD_ODD.
 */
extern void gpusort_loader_read(GpuSortLoader *loader, GpuSortLoadInput *input);

/* The lines of the records that were read last, if the table has indexes. */
extern const GpuSortLoadLines *gpusort_loader_lines(const GpuSortLoader *loader);

/* ... and where rows go, if that is asked for, is left to others in this area. */
extern void gpusort_loader_share_order(GpuSortLoader *loader, dsa_area *area);

/* What stopped it is PostgreSQL's to look at, with the values that were taken for it. */
extern void gpusort_loader_hand_over(GpuSortLoader *loader, CopyFromState copy);

/*
 * What becomes of the rows that were read.  First they get their places, in the order of the input; then they are
 * written: with "keep_last", a page that is not full may be kept.  "decode_end": whatever was toasted for these rows, none
 * of it will be referred to later on.  In between others may have their turn, if this is "put_off".
 */
extern void gpusort_loader_place(GpuSortLoader *loader, bool put_off, bool decode_end);
extern void gpusort_loader_write(GpuSortLoader *loader, bool keep_last, bool decode_end);

/* ... or they are forgotten. */
extern void gpusort_loader_forget(GpuSortLoader *loader);

extern void gpusort_loader_end(GpuSortLoader *loader);

#endif							/* GPUSORT_LOAD_ROWS_H */
