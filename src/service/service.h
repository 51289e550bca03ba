/*
 * service.h
 *		The server's side of gpusortd: jobs, settings, and the supervisor.
 */
#ifndef GPUSORT_SERVICE_H
#define GPUSORT_SERVICE_H

#include "engine/gs_engine.h"
#include "memory/memory_range.h"
#include "parse/gs_dialect.h"
#include "protocol/gsd_pool.h"

/* ---------- a session's side of a job for gpusortd ---------- */

/*
 * A job is opened, fed while rows still arrive, run, waited for and closed.  Where
 * something goes wrong these functions raise no error but return why, as a text (see
 * below), and the session sorts by itself.  Only waiting may raise errors, those
 * of interrupts.
 */

typedef struct GpuSortJob
{
	bool		open;			/* from gpusort_job_open() to gpusort_job_close() */
	bool		running;		/* gpusortd has been told to run it */
	bool		left_behind;	/* closed, but gpusortd may still be working on it */
	uint32		number;			/* valid if open or left behind */
	gsd_descriptor *descriptor;
	uint32		plane_extents;	/* room in the descriptor's list for the extents of each plane,
								 * and for those of the rows, which come behind the planes */
	bool		reorder;		/* rows are to be reordered after the sort */
	uint32		list_used;		/* elements of the list that are in use */
	uint64		nrows;
} GpuSortJob;

/* A plane of a job, which the engine calls gs_plane. */
typedef struct GpuSortJobPlane
{
	GpuSortRange *words;		/* NULL: given by gpusort_job_add_words() and
								 * gpusort_job_set_nulls() */
	GpuSortRange *nulls;		/* NULL: no row is null */
	gs_null_order null_order;
	bool		bytes;			/* words are bytes of strings, to be numbered */
} GpuSortJobPlane;

/* Rows that are to be brought into order, and where they go; see gsd_rows. */
typedef struct GpuSortJobRows
{
	GpuSortRange *rows;
	GpuSortRange *refs;			/* NULL: rows have a stride */
	GpuSortRange *to_rows;
	GpuSortRange *to_refs;		/* NULL: rows have a stride */
	size_t		row_bytes;
	size_t		stride;
	size_t		unit;
	unsigned	length_shift;	/* where a row says how long it is */
	uint64		length_mask;
} GpuSortJobRows;

/* Returns whether gpusortd is ready to take jobs; *cuda tells whether it sorts on real GPUs. */
extern bool gpusort_service_is_up(bool *cuda);

/*
 * Returns why gpusortd does not take jobs, as a constant string.  Returns NULL if
 * nobody expects it to, since it is switched off, this machine has no GPU or this
 * server has no pool.
 */
extern const char *gpusort_service_why_not(void);

/*
 * Opens a job that will have at most nplanes planes; returns NULL, or why that is not
 * possible.  `memory` is a range of one extent for the descriptor, which belongs to the
 * job until that is closed.
 */
extern const char *gpusort_job_open(GpuSortJob *job, GpuSortRange *memory, unsigned nplanes,
									uint64 expected_rows);

/*
 * Opens and runs a job that finds the records and fields of chunks of text; see gsd_text.  Returns
 * NULL, or why that is not possible.  `memory` is a range whose first extent is for the descriptor.
 * The job is waited for and closed as any other.
 */
typedef struct GpuSortJobChunk
{
	uint32		extent;
	uint32		bytes;
} GpuSortJobChunk;

extern const char *gpusort_job_run_text(GpuSortJob *job, GpuSortRange *memory,
										const gs_dialect *dialect, const GpuSortJobChunk *chunks,
										uint32 nchunks);

/*
 * Returns what was found in a chunk, when all chunks are ready.  The caller has to prove that it is
 * right.
 */
extern const gs_found *gpusort_job_found(const GpuSortJob *job, uint32 chunk);

/*
 * Returns whether waiting for a running job is over: it is done, and *why is NULL; or it never will
 * be, and *why says why.
 */
extern bool gpusort_job_is_answered(const GpuSortJob *job, const char **why);

/* Tells gpusortd that the first `rows` words of a plane will not change any more. */
extern void gpusort_job_feed(GpuSortJob *job, unsigned plane, const GpuSortRange *words,
							 uint64 rows);

/* Tells gpusortd that the first `bytes` bytes of the rows will not change any more. */
extern void gpusort_job_feed_rows(GpuSortJob *job, const GpuSortRange *rows, size_t bytes);

/*
 * Has the job reorder the rows, too; called before it is run.  Returns false if a range is not in
 * the pool.
 */
extern bool gpusort_job_reorder(GpuSortJob *job, const GpuSortJobRows *rows);

/*
 * Append words to a plane, or give it the bitmap of its nulls: `count` extents of a range, from
 * extent `from` on.  Called before the job is run.  Return false if the range is not in the pool,
 * or has fewer extents.
 */
extern bool gpusort_job_add_words(GpuSortJob *job, unsigned plane, const GpuSortRange *range,
								  uint32 from, uint32 count);
extern bool gpusort_job_set_nulls(GpuSortJob *job, unsigned plane, const GpuSortRange *range,
								  uint32 from, uint32 count);

/*
 * Has gpusortd sort the rows, when all have been collected.  Returns NULL, or why that
 * is not possible; the job is still open then.  `ids` gets the order, and `equal`, which
 * may be NULL, a bit for each row that is equal to the row before.
 */
extern const char *gpusort_job_run(GpuSortJob *job, uint64 nrows, unsigned nplanes,
								   const GpuSortJobPlane *planes, const GpuSortRange *ids,
								   const GpuSortRange *equal);

/*
 * Waits until at least `rows` rows are ready, and raises *ready to how many are.  Returns
 * NULL, or why they never will be; the job is still open then.
 */
extern const char *gpusort_job_wait(GpuSortJob *job, uint64 rows, uint64 *ready);

/* Returns how many rows are known to be ready now. */
extern uint64 gpusort_job_ready(const GpuSortJob *job);

/*
 * gpusort_job_reordered() sets *rows to how many rows have been reordered, and returns
 * true if there will not be more.  gpusort_job_wait_reordered() does the same after waiting
 * until at least `wanted` rows have been reordered, or there will not be more.
 */
extern bool gpusort_job_reordered(const GpuSortJob *job, uint64 *rows);
extern bool gpusort_job_wait_reordered(GpuSortJob *job, uint64 wanted, uint64 *rows);

/* Returns gpusortd's report on a job of which rows are ready. */
extern const gsd_result *gpusort_job_result(const GpuSortJob *job);

/*
 * gpusort_job_trace() has a job traced; it is called before the job is run.  gpusort_job_spans(),
 * called when all rows are ready, sets *spans to what devices did for the job and returns the
 * number of spans, 0 if the job has failed.  Names in spans need not end with a zero byte.
 */
extern void gpusort_job_trace(GpuSortJob *job);
extern uint32 gpusort_job_spans(const GpuSortJob *job, const gsd_span **spans);

/*
 * Closes the job, whatever its state.  If gpusortd does not let go of it soon, the
 * job is left behind: the caller must leave the job's ranges to it
 * (gpusort_range_leave()), give them back without writing to them again, and then call
 * gpusort_job_abandon().
 */
extern void gpusort_job_close(GpuSortJob *job);
extern void gpusort_job_abandon(GpuSortJob *job);

/* ---------- why gpusortd does not sort what it should ---------- */

/*
 * A reason is a text, for EXPLAIN and the log.  For statistics, each reason has one of four causes.
 */

typedef enum GpuSortFallback
{
	GPUSORT_FALLBACK_DOWN,		/* gpusortd is not running */
	GPUSORT_FALLBACK_BUSY,		/* gpusortd is busy with other sorts */
	GPUSORT_FALLBACK_MEMORY,	/* the pool or address space is too small */
	GPUSORT_FALLBACK_FAILED		/* gpusortd has failed at the job, or does not answer */
} GpuSortFallback;

#define GPUSORT_WHY_STARTING	"gpusortd is starting"
#define GPUSORT_WHY_DOWN		"gpusortd is not running"
#define GPUSORT_WHY_OFF			"gpusortd has been switched off"
#define GPUSORT_WHY_NOT_TAKEN	"gpusortd did not take the job"
#define GPUSORT_WHY_BUSY		"gpusortd is busy with other sorts"
#define GPUSORT_WHY_MANY		"too many sorts at a time"
#define GPUSORT_WHY_FULL		"the pool is full"
#define GPUSORT_WHY_OUTSIDE		"not all of the sort lies in the pool"
#define GPUSORT_WHY_NO_ROOM		"there is no memory for the result"
#define GPUSORT_WHY_NO_SPACE	"there is no address space"

/* Returns the cause of a reason; a text that is not listed above is a failure. */
extern GpuSortFallback gpusort_fallback_cause(const char *why);

/* ---------- settings of the service that sorts on GPUs: gpusort.daemon and its like ---------- */

extern char *gpusort_daemon;	/* "auto", "off" or "host:N" */
extern char *gpusort_device_list;	/* gpusort.devices: "all", or a list of numbers */
extern char *gpusort_device_memory; /* a share such as "80%", or an amount with its unit */
extern char *gpusort_daemon_options;	/* further options of gpusortd, separated by spaces */
extern int	gpusort_min_gpu_rows;
extern int	gpusort_daemon_timeout; /* ms; 0: wait for ever */
extern int	gpusort_daemon_queue_timeout;	/* ms; 0: wait for ever */
extern int	gpusort_reorder_rows;	/* GpuSortReorderRows */
extern int	gpusort_copy_parser;	/* GpuSortCopyParser */

/* gpusort.reorder_rows: whether gpusortd brings rows into order after the sort */
typedef enum GpuSortReorderRows
{
	GPUSORT_REORDER_OFF,
	GPUSORT_REORDER_AUTO,		/* on GPUs, where it should pay */
	GPUSORT_REORDER_ON			/* wherever possible, and sessions wait for it */
} GpuSortReorderRows;

/* gpusort.copy_parser: what finds records and fields for COPY FROM */
typedef enum GpuSortCopyParser
{
	GPUSORT_COPY_PARSER_HOST,
	GPUSORT_COPY_PARSER_DEVICE
} GpuSortCopyParser;

/* Defines the settings; called by _PG_init(). */
extern void gpusort_define_service_settings(void);

/* Returns the N of a gpusort.daemon of "host:N"; 0 if it is something else. */
extern int	gpusort_daemon_simulated_devices(const char *daemon);

/* ---------- the supervisor: the background worker that keeps gpusortd running ---------- */

/* Registers the worker; called by _PG_init() while libraries are preloaded. */
extern void gpusort_supervisor_install(void);

/* The worker's main function. */
extern PGDLLEXPORT void gpusort_supervisor_main(Datum arg);

#endif							/* GPUSORT_SERVICE_H */
