/*
 * gs_reorder.h
 *		Rows of a sort into its order, on one device.
 *
 * Whoever reads rows in an order that has nothing to do with where they lie waits
 * for memory at each of them.  A device does not: it takes the rows, copies them by
 * their ids, and returns them end to end.  That is a step of its own, behind the
 * sort, which may have been done anywhere: it is given ids in host memory.
 *
 * Life of a reordering: begin, any number of feeds while rows still arrive, run
 * once their order is known, wait until all are in place, end.  Windows of rows
 * are on their way at the same time: up go the ids of one, another is copied, down
 * go the rows of a third.
 *
 * One device does it, since its link is ten times as fast as a process that reads
 * the rows.  All rows must be on it at once, and take at most half of its memory:
 * the other half is for sorts.  If they don't fit, they are not reordered.
 *
 * Errors are as in gs_device_sort.h: a call that returns anything but GS_OK has
 * cleaned up.  So are threads, and the memory that spans are to lie in.  Between
 * gs_reorder_run() and gs_reorder_end() no sort of the group may run.
 */
#ifndef GS_REORDER_H
#define GS_REORDER_H

#include "engine/device/gs_device_sort.h"

typedef struct gs_reorder_args
{
	uint64_t	nrows;			/* below 2^32 */
	gs_span		ids;			/* uint32_t, in the order wanted */

	/* see gs_stored_rows */
	gs_span		rows;
	uint64_t	row_bytes;
	uint64_t	stride;
	gs_span		refs;
	unsigned	unit;
	gs_row_length length;

	/* out: rows by stride, or with the references to them, by position */
	gs_span		to_rows;
	uint64_t	to_bytes;		/* room */
	gs_span		to_refs;
	const volatile int *cancel;
} gs_reorder_args;

typedef struct gs_reorder gs_reorder;

/* NULL: the host has no memory. */
extern gs_reorder *gs_reorder_begin(gs_group *group);

/*
 * The next `bytes` bytes of the rows, a multiple of 8, are final: upload them ahead.
 * False if that is not possible now.
 */
extern bool gs_reorder_feed(gs_reorder *reorder, const void *rows, uint64_t bytes);

/*
 * Put the first rows on their way.  args and what it points to must stay until the
 * end.  On failure *message tells why, in storage of the reordering.
 */
extern gs_status gs_reorder_run(gs_reorder *reorder, const gs_reorder_args *args,
								const char **message);

/* Wait until more rows than *ready are in place, from the first one on; sets *ready. */
extern gs_status gs_reorder_wait(gs_reorder *reorder, uint64_t *ready, const char **message);

/* At any time; waits until no device touches the rows any more. */
extern void gs_reorder_end(gs_reorder *reorder);

#endif							/* GS_REORDER_H */
