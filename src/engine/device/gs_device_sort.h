/*
 * gs_device_sort.h
 *		Sorting on a group of devices (RMG Sort, extended from keys to rows).
 *
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
#ifndef GS_DEVICE_SORT_H
#define GS_DEVICE_SORT_H

#include "engine/device/gs_device.h"

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

/* How to sort; zeros are replaced by defaults. */
typedef struct gs_device_options
{
	gs_exchange exchange;
	/* fewer rows than this do not pay for a device of their own (default 4 M) */
	uint64_t	device_rows;
	/* buckets smaller than this are fused whatever it costs (default 2 M to 8 M) */
	uint64_t	bucket_rows;
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

#endif							/* GS_DEVICE_SORT_H */
