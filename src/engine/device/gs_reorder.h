/*
 * gs_reorder.h
 *		Bringing the rows of a sort into its order, on one device.
 *
 * A process that reads rows in an order that has nothing to do with where they lie waits for memory
 * at each row.  A device does not: it takes the rows, copies them by their ids, and returns them
 * end to end.  That is a step of its own behind the sort, and the sort may have been done anywhere:
 * the device is given ids in host memory.
 *
 * A reordering is begun, fed any number of times while rows still arrive, run once their order is
 * known, waited for until all rows are in place, and ended.  *Windows* of rows are on their way at
 * the same time: the ids of one are uploaded, the rows of another are copied, and those of a third
 * are downloaded.
 *
 * One device does it, since its link is ten times as fast as a process that reads the rows.  All
 * rows must be on that device at once, and take at most half of its memory: the other half is for
 * sorts.  If they don't fit, they are not reordered.
 *
 * Errors are as in gs_device_sort.h: a call that returns anything but GS_OK has cleaned up.  The
 * same rules as there hold for threads, and for the memory that spans lie in.  Between
 * gs_reorder_run() and gs_reorder_end() no sort of the group may run.
 */
#ifndef GS_REORDER_H
#define GS_REORDER_H

#include "engine/device/gs_device_sort.h"

typedef struct gs_reorder_args
{
	uint64_t	nrows;			/* below 2^32 */
	gs_span		ids;			/* ids of uint32_t, in the order wanted */

	/* the rows, as gs_stored_rows has them */
	gs_span		rows;
	uint64_t	row_bytes;
	uint64_t	stride;
	gs_span		refs;
	unsigned	unit;
	gs_row_length length;

	/* out: rows by stride, or the rows and the references to them, by position */
	gs_span		to_rows;
	uint64_t	to_bytes;		/* room for rows */
	gs_span		to_refs;
	const volatile int *cancel;
} gs_reorder_args;

typedef struct gs_reorder gs_reorder;

/* Begins a reordering; returns NULL if the host has no memory. */
extern gs_reorder *gs_reorder_begin(gs_group *group);

/*
 * Uploads the next `bytes` bytes of the rows, a multiple of 8, which are final, ahead of the run.
 * Returns false if that is not possible now.
 */
extern bool gs_reorder_feed(gs_reorder *reorder, const void *rows, uint64_t bytes);

/*
 * Puts the operations for the first rows on queues.  args and what it points to must stay until the
 * end.  On failure *message tells why, in storage of the reordering.
 */
extern gs_status gs_reorder_run(gs_reorder *reorder, const gs_reorder_args *args,
								const char **message);

/* Waits until more rows than *ready are in place, from the first one on; sets *ready. */
extern gs_status gs_reorder_wait(gs_reorder *reorder, uint64_t *ready, const char **message);

/* Ends a reordering, at any time; waits until no device touches the rows any more. */
extern void gs_reorder_end(gs_reorder *reorder);

#endif							/* GS_REORDER_H */
