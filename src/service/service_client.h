/*
 * service_client.h
 *		A session's side of a job for gpusortd.
 *
 * Life of a job: open, feed while rows still arrive, run, wait, close.  What can
 * go wrong is an answer, not an error: whoever asked sorts by himself then.
 * Only waiting may raise errors, those of interrupts.
 */
#ifndef GPUSORT_SERVICE_CLIENT_H
#define GPUSORT_SERVICE_CLIENT_H

#include "engine/gs_engine.h"
#include "memory/memory_range.h"
#include "parse/gs_dialect.h"
#include "protocol/gsd_pool.h"

typedef struct GpuSortJob
{
	bool		open;			/* from open to close */
	bool		running;		/* was told to run */
	bool		left_behind;	/* closed, but gpusortd may still be at it */
	uint32		number;			/* valid if open or left behind */
	gsd_descriptor *descriptor;
	uint32		plane_extents;	/* room in the list for each plane, and then for
								 * the rows */
	bool		reorder;		/* rows are to be reordered behind the sort */
	uint32		list_used;
	uint64		nrows;
} GpuSortJob;

/* A plane of a job; what the engine calls gs_plane. */
typedef struct GpuSortJobPlane
{
	GpuSortRange *words;		/* NULL: gpusort_job_add_words() and ..._set_nulls() have told */
	GpuSortRange *nulls;		/* NULL: no row is null */
	gs_null_order null_order;
	bool		bytes;			/* words are bytes of strings, to be numbered */
} GpuSortJobPlane;

/* Rows that are to be brought into order, and where; see gsd_rows. */
typedef struct GpuSortJobRows
{
	GpuSortRange *rows;
	GpuSortRange *refs;			/* NULL: rows have a stride */
	GpuSortRange *to_rows;
	GpuSortRange *to_refs;		/* NULL likewise */
	size_t		row_bytes;
	size_t		stride;
	size_t		unit;
	unsigned	length_shift;	/* where a row tells how long it is */
	uint64		length_mask;
} GpuSortJobRows;

/* Is gpusortd there to take jobs?  *cuda: on real GPUs. */
extern bool gpusort_service_is_up(bool *cuda);

/*
 * Why it is not, constant storage or the pool's; NULL if nobody expects it to be,
 * since it is switched off, or this machine has no GPU or this server no pool.
 */
extern const char *gpusort_service_complaint(void);

/*
 * Open a job that will have at most so many planes.  `memory` is a range of one
 * extent, for the descriptor, which belongs to the job until it is closed.
 */
extern const char *gpusort_job_open(GpuSortJob *job, GpuSortRange *memory, unsigned nplanes,
									uint64 expected_rows);

/*
 * Have the records and fields of chunks found; see gsd_text.  The job is running then.  `memory` is
 * a range whose first extent is for the descriptor.  It ends as all jobs do.
 */
typedef struct GpuSortJobChunk
{
	uint32		extent;
	uint32		bytes;
} GpuSortJobChunk;

extern const char *gpusort_job_run_text(GpuSortJob *job, GpuSortRange *memory, const gs_dialect *dialect,
										const GpuSortJobChunk *chunks, uint32 nchunks);

/* What was found in a chunk, when all chunks are ready.  It has to be proven yet. */
extern const gs_found *gpusort_job_found(const GpuSortJob *job, uint32 chunk);

/* Is a job that runs done?  *why: NULL, or why it never will be. */
extern bool gpusort_job_is_answered(const GpuSortJob *job, const char **why);

/* The first `rows` words of a plane will not change any more. */
extern void gpusort_job_feed(GpuSortJob *job, unsigned plane, const GpuSortRange *words,
							 uint64 rows);

/* Neither will the first `bytes` bytes of the rows. */
extern void gpusort_job_feed_rows(GpuSortJob *job, const GpuSortRange *rows, size_t bytes);

/* Before the job is run: reorder the rows, too.  False if some range is not in the pool. */
extern bool gpusort_job_reorder(GpuSortJob *job, const GpuSortJobRows *rows);

/*
 * Before the job is run: a plane's words go on with those in so many extents of a range; or the
 * bitmap of its nulls is there.  False if the range is not in the pool, or has not so much.
 */
extern bool gpusort_job_add_words(GpuSortJob *job, unsigned plane, const GpuSortRange *range,
								  uint32 from, uint32 count);
extern bool gpusort_job_set_nulls(GpuSortJob *job, unsigned plane, const GpuSortRange *range,
								  uint32 from, uint32 count);

/*
 * All rows are there: sort them.  NULL, or why that is not possible; the job is
 * still open then.  equal may be NULL.
 */
extern const char *gpusort_job_run(GpuSortJob *job, uint64 nrows, unsigned nplanes,
								   const GpuSortJobPlane *planes, const GpuSortRange *ids,
								   const GpuSortRange *equal);

/*
 * Wait until at least so many rows are ready, and raise *ready; NULL, or why that
 * will never be.  The job is still open then.
 */
extern const char *gpusort_job_wait(GpuSortJob *job, uint64 rows, uint64 *ready);

/* How many rows are known to be ready now. */
extern uint64 gpusort_job_ready(const GpuSortJob *job);

/*
 * How many rows have been reordered, in *rows; true if there will not be more.
 * gpusort_job_wait_reordered() waits until they are at least so many, or there will not
 * be more, which is what it returns.
 */
extern bool gpusort_job_reordered(const GpuSortJob *job, uint64 *rows);
extern bool gpusort_job_wait_reordered(GpuSortJob *job, uint64 wanted, uint64 *rows);

/* What gpusortd says about a job of which rows are ready. */
extern const gsd_result *gpusort_job_result(const GpuSortJob *job);

/*
 * Have a job traced, before it is run; and what devices did for it, when all rows are ready: how many
 * spans there are, 0 if the job fails.  Names may lack their end.
 */
extern void gpusort_job_trace(GpuSortJob *job);
extern uint32 gpusort_job_spans(const GpuSortJob *job, const gsd_span **spans);

/*
 * Close the job, whatever its state.  If gpusortd has not let go of it soon, the
 * job is left behind: its ranges must be left to it (gpusort_range_leave), be given
 * back without having been written to again, and then gpusort_job_abandon() called.
 */
extern void gpusort_job_close(GpuSortJob *job);
extern void gpusort_job_abandon(GpuSortJob *job);

#endif							/* GPUSORT_SERVICE_CLIENT_H */
