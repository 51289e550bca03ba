/*
 * gs_device_sort.h
 *		What a group of devices does: sorting, reordering rows, finding fields of text.
 */
#ifndef GS_DEVICE_SORT_H
#define GS_DEVICE_SORT_H

#include "engine/device/gs_device.h"

/* ---------- sort: RMG Sort, extended from keys to rows ---------- */

/*
 * A job is begun, fed any number of times while rows still arrive, run once all rows are there,
 * waited for until all are sorted, and ended.  The planes are those of gs_engine.h, and so is the
 * result: row ids in key order, equal keys in ascending row id order, optionally the bitmap of
 * equal neighbours.  The result does not depend on the number of devices.
 *
 * Planes, ids and bitmap lie in host memory that the devices were told of, in pieces: a *span* is
 * an array cut into parts of equal size that may lie anywhere.
 *
 * All functions are called by one thread.  A call that returns anything but GS_OK has already
 * cleaned up: the only thing left to do is to end the job.  Any number of jobs of a group may be
 * fed, but only one at a time sorted: from gs_device_run() to gs_device_end().
 */

/* An array of bytes in parts of 2^shift bytes: at least 2^21 bytes each, or a single part. */
typedef struct gs_span
{
	void *const *parts;
	unsigned	shift;			/* 63 if there is one part */
} gs_span;

static inline void *
gs_span_at(gs_span span, uint64_t offset)
{
	return (char *) span.parts[offset >> span.shift] +
		(offset & ((UINT64_C(1) << span.shift) - 1));
}

typedef struct gs_span_plane
{
	gs_span		words;
	gs_span		nulls;			/* parts NULL: no row is null */
	gs_null_order null_order;
	/* words are bytes of strings, to be numbered if that makes the key narrower */
	bool		bytes;
} gs_span_plane;

typedef enum gs_exchange
{
	GS_EXCHANGE_AUTO,			/* by stores, if all devices reach each other; else by copies */
	GS_EXCHANGE_STORE,			/* rows are scattered straight to the device of their share */
	/* rows are scattered within a device, then copied to that of their share */
	GS_EXCHANGE_COPY
} gs_exchange;

#define GS_DEFAULT_DEVICE_ROWS	(UINT64_C(4) << 20)
#define GS_DEFAULT_GUESS_ROWS	(UINT64_C(32) << 20)

/* How to sort; zeros are replaced by defaults. */
typedef struct gs_device_options
{
	gs_exchange exchange;
	/* fewer rows than this do not pay for a device of their own (default 4 M) */
	uint64_t	device_rows;
	/* buckets smaller than this are fused whatever it costs (default 2 M to 8 M) */
	uint64_t	bucket_rows;
	/* fewer rows than this are not scattered while they are uploaded (default 32 M) */
	uint64_t	guess_rows;
	/*
	 * Where memory is short, make a lean guess (gs_device_lean.c) rather than rounds.  gpusortd
	 * does not, since no GPU has run it yet.
	 */
	bool		lean;
	/* most arena memory to use on each device, to test what happens when there is little */
	uint64_t	memory_bytes;
	uint64_t	window_bytes;	/* bytes of rows that are reordered at a time (default 32 MB) */
} gs_device_options;

/* A group of devices; the caller opens and closes them. */
typedef struct gs_group
{
	unsigned	ndevices;		/* 1 .. GS_MAX_DEVICES */
	gs_device  *devices[GS_MAX_DEVICES];
	gs_device_options options;
} gs_group;

typedef struct gs_device_args
{
	uint64_t	nrows;			/* below 2^32 with id_bytes 4, else 2^48 */
	unsigned	nplanes;
	const gs_span_plane *planes;
	unsigned	id_bytes;		/* 4 or 8 */
	gs_span		ids;			/* out: nrows row ids */
	gs_span		equal;			/* out, as in gs_sort_args; parts NULL: not wanted */

	/*
	 * Host memory that the devices were told of, for rows that device memory has no room for; what
	 * was in it is lost.  NULL: there is none.  8 + id_bytes for each row is the most of use.
	 */
	void	   *park;
	uint64_t	park_bytes;
	const volatile int *cancel;
} gs_device_args;

typedef struct gs_device_result
{
	unsigned	key_bits;
	unsigned	devices;		/* how many devices took part */
	unsigned	rounds;			/* 1, unless device memory was too small */
	unsigned	histograms;		/* passes over the keys that found the buckets */
	unsigned	buckets;		/* how many buckets were sorted, one by one */
	uint64_t	exchanged_rows;	/* rows that moved to another device */
	uint64_t	refined_rows;	/* rows that tied on the first 64 bits */
	/*
	 * rows of buckets that were sorted by leading bits first and had to be sorted again, since
	 * their keys are clustered
	 */
	uint64_t	resorted_rows;
	uint64_t	largest_share_rows;	/* most rows that one device sorted in a round */
	bool		presorted;
	bool		resident;		/* keys were in device memory in all rounds */
	bool		guessed;		/* rows were scattered while they were uploaded */
	uint64_t	parked_rows;	/* ... and so many to host memory, as device memory was full */
} gs_device_result;

typedef struct gs_device_job gs_device_job;

/*
 * Begins a job of about expected_rows rows; returns GS_NO_SPACE if the host has no memory for it.
 */
extern gs_status gs_device_begin(gs_group *group, unsigned nplanes, uint64_t expected_rows,
								 gs_device_job **job);

/*
 * Uploads the words of a full segment of a plane, which are final, ahead of the run.  Errors don't
 * matter here: words that can't be uploaded now will be uploaded later.
 */
extern void gs_device_feed(gs_device_job *job, unsigned plane, uint64_t segment,
						   const uint64_t *words);

/*
 * Returns how many bytes of host memory are of use for rows that the devices have no room for
 * (gs_device_args), if the job is run with these arguments: 0 if all have room, or it can't be.
 */
extern uint64_t gs_device_park_bytes(gs_device_job *job, const gs_device_args *args);

/* Forgets what was fed of this plane, since its words have changed after all. */
extern void gs_device_unfeed(gs_device_job *job, unsigned plane);

/*
 * Sorts.  Returns when everything has been put on queues; *result is complete then.  args and what
 * it points to must stay until the job ends.  On failure *message tells why, in storage of the job.
 */
extern gs_status gs_device_run(gs_device_job *job, const gs_device_args *args,
							   gs_device_result *result, const char **message);

/*
 * Waits until more rows than *ready are sorted and their ids are in place; sets *ready, which
 * counts from the first position.  The bitmap is complete when *ready reaches the number of rows.
 */
extern gs_status gs_device_wait(gs_device_job *job, uint64_t *ready, const char **message);

/* Ends a job, at any time; waits until no device touches its memory any more. */
extern void gs_device_end(gs_device_job *job);

/* ---------- reorder: the rows of a sort into its order, on one device ---------- */

/*
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

/* ---------- fields: of chunks of delimited text, found on one device ---------- */

/*
 * A chunk, which begins with a record.  Its memory is the host's, and the device was told of it; it
 * may be read up to the next multiple of 16 bytes.
 */
typedef struct gs_text_chunk
{
	const char *data;
	uint32_t	bytes;
	uint32_t   *field_ends;		/* out; may be left as it is if more fields were found than fit */
	uint32_t   *record_fields;	/* out, likewise */
	gs_found	found;			/* out */
} gs_text_chunk;

typedef struct gs_find_fields_args
{
	gs_dialect	dialect;
	uint32_t	max_bytes;		/* most bytes of a chunk */
	uint32_t	max_fields;
	uint32_t	max_records;
	unsigned	nchunks;
	gs_text_chunk *chunks;
	const volatile int *cancel;
} gs_find_fields_args;

/*
 * Finds the records and fields of all chunks.  On failure device->error tells why, unless the
 * status is GS_NO_SPACE or GS_CANCELLED.
 */
extern gs_status gs_find_fields(gs_device *device, const gs_find_fields_args *args);

#endif							/* GS_DEVICE_SORT_H */
