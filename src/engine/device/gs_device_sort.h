/*
 * gs_device_sort.h
 *		Sorting on a group of devices (RMG Sort, extended from keys to rows).
 *
 * Life of a job: begin, any number of feeds while rows still arrive, run once
 * all are there, wait until all are sorted, end.  The planes are those of
 * gs_engine.h, and so is the result: row ids in key order, equal keys in
 * ascending row id order, optionally the bitmap of equal neighbours.  Whatever
 * the number of devices, the result is the same.
 *
 * Planes, ids and bitmap lie in host memory that the devices were told of, in
 * pieces: a *span* is an array cut into parts of equal size that may lie
 * anywhere.
 *
 * Everything here runs in one thread, and a call that returns anything but
 * GS_OK has already cleaned up: the only thing left to do is to end the job.
 * Any number of jobs of a group may be fed, but only one at a time sorted: from
 * gs_device_run() to gs_device_end().
 */
#ifndef GS_DEVICE_SORT_H
#define GS_DEVICE_SORT_H

#include "engine/device/gs_device.h"

/* An array of bytes in parts of 2^shift bytes; at least 2^21, or one part. */
typedef struct gs_span
{
	void *const *parts;
	unsigned	shift;			/* 63: one part */
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
	bool		bytes;			/* words are bytes of strings, to be numbered if that makes
								 * the key narrower */
} gs_span_plane;

typedef enum gs_exchange
{
	GS_EXCHANGE_AUTO,			/* store where all devices reach each other */
	GS_EXCHANGE_STORE,			/* rows are scattered straight to their device */
	GS_EXCHANGE_COPY			/* scattered locally, then copied bucket by bucket */
} gs_exchange;

#define GS_DEFAULT_DEVICE_ROWS	(UINT64_C(4) << 20)

/* How to sort; zeros are replaced by defaults. */
typedef struct gs_device_options
{
	gs_exchange exchange;
	uint64_t	device_rows;	/* fewer rows than this do not pay for a device
								 * of their own (default 4 M) */
	uint64_t	bucket_rows;	/* buckets smaller than this are fused whatever
								 * it costs (default 2 M to 8 M) */
	uint64_t	memory_bytes;	/* most arena memory to use on each device, to
								 * test what happens when there is little */
	uint64_t	window_bytes;	/* of rows that are reordered at a time (default
								 * 32 MB) */
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
	gs_span		equal;			/* out, parts NULL: not wanted; as in
								 * gs_sort_args */
	const volatile int *cancel;
} gs_device_args;

typedef struct gs_device_result
{
	unsigned	key_bits;
	unsigned	devices;		/* that took part */
	unsigned	rounds;			/* 1, unless device memory was too small */
	unsigned	histograms;		/* passes over the keys to find the buckets */
	unsigned	buckets;		/* sorted one by one */
	uint64_t	exchanged_rows;	/* that moved to another device */
	uint64_t	refined_rows;	/* that tied on the first 64 bits */
	uint64_t	resorted_rows;	/* of buckets whose keys turned out to be clustered
								 * after they had been sorted by some bits */
	uint64_t	largest_share_rows;	/* most rows that one device sorted in a
									 * round */
	bool		presorted;
	bool		resident;		/* keys were in device memory in all rounds */
} gs_device_result;

typedef struct gs_device_job gs_device_job;

/*
 * Begin a job of about expected_rows rows; GS_NO_SPACE when the host has no
 * memory for it.
 */
extern gs_status gs_device_begin(gs_group *group, unsigned nplanes, uint64_t expected_rows,
								 gs_device_job **job);

/*
 * Words of a full segment of a plane are final: upload them ahead.  An error
 * here is not one: what could not be uploaded now will be later.
 */
extern void gs_device_feed(gs_device_job *job, unsigned plane, uint64_t segment,
						   const uint64_t *words);

/*
 * Forget what was fed of this plane, its words have changed after all.
 */
extern void gs_device_unfeed(gs_device_job *job, unsigned plane);

/*
 * Sort.  Returns when everything has been put on its way; *result is complete.
 * args and what it points to must stay until the job ends.  On failure
 * *message tells why, in storage of the job.
 */
extern gs_status gs_device_run(gs_device_job *job, const gs_device_args *args,
							   gs_device_result *result, const char **message);

/*
 * Wait until more rows than *ready are sorted and their ids are in place; sets
 * *ready, which counts from the first position.  The bitmap is complete when
 * *ready reaches the number of rows.
 */
extern gs_status gs_device_wait(gs_device_job *job, uint64_t *ready, const char **message);

/* At any time; waits until no device touches the job's memory any more. */
extern void gs_device_end(gs_device_job *job);

#endif							/* GS_DEVICE_SORT_H */
