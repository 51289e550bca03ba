/*
 * daemon_jobs.h
 *		The jobs of the pool: who does them, when, and how.
 */
#ifndef DAEMON_JOBS_H
#define DAEMON_JOBS_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/daemon.h"
#include "protocol/gsd_pool.h"
#include "engine/device/gs_device_sort.h"

/* ---------- queue: whose turn it is, of the jobs that are ready to be sorted ---------- */

/*
 * Small jobs pass large ones, and no job waits for ever.  Time is counted in rows: in the rows of
 * the jobs that have had their turn.  A job is due when GSD_QUEUE_PATIENCE times its own rows have
 * been sorted since it came, and the job that is due first is next.  So a job waits for those that
 * came before it, and of those that come later only for smaller ones, and only until it is due.
 */

/* Smaller jobs that come later pass a job with so many times its rows, at most. */
#define GSD_QUEUE_PATIENCE	4

typedef struct gsd_place
{
	uint64_t	arrival;		/* the how-manieth job to come this is; 0: it does not wait */
	uint64_t	rows;
	uint64_t	due;			/* when the job is due: how many rows will have been sorted */
} gsd_place;

/* The jobs that wait, by number of the job.  All zeros is an empty queue. */
typedef struct gsd_queue
{
	uint64_t	arrivals;
	uint64_t	sorted_rows;
	gsd_place	places[GSD_MAX_JOBS];
} gsd_queue;

/* Puts a job into the queue; rows is what its session says. */
extern void gsd_queue_enter(gsd_queue *queue, unsigned job, uint64_t rows);

/* Takes a job out of the queue, if it is there. */
extern void gsd_queue_leave(gsd_queue *queue, unsigned job);

/*
 * Takes the job whose turn it is out of the queue, and returns its number, or -1 if no job waits.
 */
extern int	gsd_queue_take(gsd_queue *queue);

/* ---------- lanes: parts of devices on which small jobs are sorted, each by itself ---------- */

#define GSD_DEVICE_LANES	4
#define GSD_MAX_LANES		(GSD_DEVICE_LANES * GS_MAX_DEVICES)

typedef struct gsd_lane
{
	unsigned	of;				/* number, in the group, of the device that the lane is a part of */
	gs_group	group;			/* a group that has this lane as its only device */
} gsd_lane;

typedef struct gsd_lanes
{
	unsigned	count;
	uint64_t	most_rows;		/* most rows that a small job has */
	uint64_t	lane_bytes;		/* memory of each lane */
	gsd_lane	lanes[GSD_MAX_LANES];
} gsd_lanes;

/* What a job needs of a lane, as far as it is known. */
typedef struct gsd_lane_needs
{
	uint64_t	nrows;
	unsigned	nplanes;
	uint64_t	row_bytes;		/* of all rows that are to be reordered; 0: none are */
} gsd_lane_needs;

/*
 * Takes so many lanes of each of a group's devices, at most GSD_DEVICE_LANES, or as many as there
 * is memory for.
 */
extern void gsd_lanes_open(gsd_lanes *lanes, const gs_group *group, unsigned of_each);
extern void gsd_lanes_close(gsd_lanes *lanes);

/*
 * Returns whether lanes are large enough for a job.  The numbers in `needs` come from a session, so
 * any of them may be wrong.
 */
extern bool gsd_lanes_fit(const gsd_lanes *lanes, const gsd_lane_needs *needs);

/* ---------- descriptor: numbers from another process, turned into addresses ---------- */

/* What a job asks for, in the form that the engine takes. */
typedef struct gsd_arguments
{
	gs_device_args args;
	gs_span_plane planes[GS_MAX_PLANES];
	bool		traced;
	bool		reorder;
	gs_reorder_args rows;		/* meaningful if `reorder` */
	/* malloc'd; addresses of extents, by place in the descriptor's list */
	void	  **parts;
} gsd_arguments;

/* Returns whether there is such an extent, and it belongs to the job or to the job's backend. */
extern bool gsd_job_owns_extent(const gsd_pool *pool, unsigned job, uint32_t extent);

/* Returns the job's descriptor, or NULL if the extent that it is said to be in is not the job's. */
extern gsd_descriptor *gsd_job_descriptor(const gsd_pool *pool, unsigned job);

/* Returns the words of a segment of a plane of an open job, or NULL if there is no such extent. */
extern const uint64_t *gsd_segment_words(const gsd_pool *pool, unsigned job, unsigned plane,
										 uint64_t segment);

/* Returns extent number i of the rows of an open job, or NULL if there is none. */
extern const void *gsd_row_extent(const gsd_pool *pool, unsigned job, uint64_t i);

/*
 * Translates the descriptor of a job that is to be run into `arguments`.  Returns NULL, or what is
 * wrong with the descriptor.  The caller calls gsd_free_arguments() afterwards in any case.
 */
extern const char *gsd_read_arguments(const gsd_pool *pool, unsigned job,
									  gsd_arguments *arguments);
extern void gsd_free_arguments(gsd_arguments *arguments);

/* ---------- sort: one job on devices ---------- */

/* What all sorters share. */
typedef struct gsd_common
{
	gsd_pool   *pool;
	uint64_t	step_rows;		/* most rows that are said to be ready at once; 0: any number */
	uint64_t	fault_at;
	_Atomic gsd_fault fault;	/* the fault that is still to be made, for tests */
	_Atomic uint64_t runs;
} gsd_common;

/*
 * A thread's devices, which no other thread uses, and what is needed to sort one job at a time on
 * them.
 */
typedef struct gsd_sorter
{
	gsd_common *common;
	gs_group	group;
	/* called with arg between the steps of a job; may be NULL */
	void		(*between) (void *arg);
	void	   *arg;

	uint64_t	idle_bytes;		/* memory that is free on the devices when there is no job */
	uint64_t	used_bytes;		/* how much of that is in use, as was last said in the pool */
	double		woken_ms;		/* when a backend was last woken because of new rows */
	gsd_arguments arguments;	/* the arguments of the job that is sorted */
	gs_device_result result;
} gsd_sorter;

/* What a job has on the devices of a sorter; all zeros: nothing. */
typedef struct gsd_work
{
	gs_device_job *job;			/* NULL: not begun, or ended */
	unsigned	nplanes;		/* the job's number of planes */
	uint64_t	fed_segments[GS_MAX_PLANES];
	gs_reorder *reorder;		/* NULL: no rows to be reordered were uploaded so far */
	uint64_t	fed_extents;	/* extents of rows that were uploaded */
	/* extents that rows are parked in while the job is sorted */
	uint32_t	first_park;
	uint32_t	park_extents;
} gsd_work;

/* Sets up a sorter, whose group the caller has set already. */
extern void gsd_sorter_begin(gsd_sorter *sorter, gsd_common *common);

/*
 * Counts a run of a job that is about to begin, and makes the faults that tests ask for.  A status
 * other than GS_OK is such a fault, and *message says so.
 */
extern gs_status gsd_sorter_run_begins(gsd_sorter *sorter, const char **message);

/* Uploads what is new of the open job n, as far as there is room. */
extern void gsd_work_feed(gsd_sorter *sorter, gsd_work *work, unsigned n);

/*
 * Forgets what was uploaded of a job, since a device has failed and it may be gone.  It is fed
 * again.
 */
extern void gsd_work_feed_again(gsd_work *work);

/* Frees all that a job has on the devices. */
extern void gsd_work_end(gsd_sorter *sorter, gsd_work *work);

/*
 * Sorts job n, and tells its backend of rows as they become ready.  On failure *message says why,
 * unless it is NULL, and the caller calls gsd_work_end().
 */
extern gs_status gsd_work_sort(gsd_sorter *sorter, gsd_work *work, unsigned n,
							   const char **message);

/*
 * Reorders the rows of job n, which is sorted, if its session wants that.  If it fails the rows are
 * as they were, and the job is done all the same.
 */
extern gs_status gsd_work_reorder(gsd_sorter *sorter, gsd_work *work, unsigned n);

/* Frees the arguments of the sorter's job. */
extern void gsd_sorter_forget(gsd_sorter *sorter);

/* ---------- text: the records and fields of one job about delimited text ---------- */

/*
 * Finds the records and fields in the chunks of job n, on the sorter's first device, and tells its
 * backend.  On failure *message says why, unless it is NULL.
 */
extern gs_status gsd_text_find(gsd_sorter *sorter, unsigned n, const char **message);

/* ---------- jobs: serving those of the pool ---------- */

typedef struct gsd_jobs gsd_jobs;

/* Starts the threads that sort on a group of devices; returns NULL if memory is out. */
extern gsd_jobs *gsd_jobs_begin(gsd_pool *pool, gs_group *group, const gsd_options *options);

/*
 * Hands out the work that there is for all jobs, and returns GSD_EXIT_ASKED; the pool is rung
 * (gsd_ring()) when there is more.  Any other status means that all jobs have failed, since a
 * device is lost or devices sort wrongly, and that the program should end with this status.
 */
extern gsd_exit gsd_jobs_serve(gsd_jobs *jobs);

/* Calls gsd_jobs_serve() again and again, until all work is done: for tests. */
extern gsd_exit gsd_jobs_settle(gsd_jobs *jobs);

/* Finishes the jobs that are running, and gives all memory back, the group's as well: for tests. */
extern void gsd_jobs_end(gsd_jobs *jobs);

/* ---------- slots: of the jobs, and the threads that own them ---------- */

/*
 * Only the thread that owns a slot may touch it.  Where a function takes the thread that calls it
 * (me), or the thread that a slot is handed to (owner), NULL stands for the dispatcher.
 */

#define GSD_NOBODY	(-1)

/* Where the daemon is with the job in a slot of the pool. */
typedef enum gsd_slot_phase
{
	GSD_SLOT_FREE,
	GSD_SLOT_OPEN,					/* the job's rows are being collected */
	GSD_SLOT_READY,					/* the job can be run, and waits for its turn */
	GSD_SLOT_RUNNING,
	GSD_SLOT_ANSWERED				/* the job is DONE or FAILED, and waits to be closed */
} gsd_slot_phase;

typedef struct gsd_worker gsd_worker;

typedef struct gsd_slot
{
	gsd_worker *_Atomic owner;	/* NULL: the dispatcher; only the owner touches the fields below */
	gsd_slot_phase phase;
	bool		large;			/* the job goes to the main sorter: no lane has room for it */
	bool		text;			/* a job about text: nothing is to be sorted */
	gsd_work	work;
} gsd_slot;

/* A thread that sorts. */
struct gsd_worker
{
	gsd_jobs   *jobs;
	gsd_thread	thread;
	gsd_sorter	sorter;
	_Atomic int job;			/* a lane's: the job that it is to sort, or GSD_NOBODY */
	gsd_queue	queue;			/* the main sorter's: its jobs that are ready */
};

struct gsd_jobs
{
	gsd_common	common;
	gsd_service *service;
	_Atomic unsigned wrong_runs;	/* how many jobs devices have sorted wrongly */
	_Atomic gsd_exit end;		/* why devices can't be used any more, or GSD_EXIT_ASKED */

	gsd_slot	slots[GSD_MAX_JOBS];
	gsd_worker	main;
	_Atomic uint64_t main_rows; /* rows of the job that the main sorter sorts now; 0: none */
	_Atomic uint64_t main_runs; /* how many jobs the main sorter has begun to sort */

	/* only the dispatcher touches these */
	gsd_lanes	lanes;
	gsd_worker *lane_workers;	/* array with an element for each lane */
	gsd_queue	queue;			/* small jobs that are ready */
	uint64_t	passed_run;		/* the value of main_runs that passed_rows is for */
	uint64_t	passed_rows;	/* rows given to lanes during that run */
};

/* Returns the job of slot number n, in the pool. */
extern gsd_job *gsd_slot_job(gsd_jobs *jobs, unsigned n);

/* Frees what the job of a slot has on the devices of the thread `me`. */
extern void gsd_slot_empty(gsd_worker *me, gsd_slot *slot);

/*
 * gsd_slot_hand() makes another thread the owner of slot n, and wakes it.  gsd_slot_give_back()
 * returns the slot to the dispatcher, unless it is the dispatcher that calls.
 */
extern void gsd_slot_hand(gsd_jobs *jobs, unsigned n, gsd_worker *owner);
extern void gsd_slot_give_back(gsd_jobs *jobs, gsd_worker *me, unsigned n);

/* Answers a job with a failure, and gives its slot back to the dispatcher. */
extern void gsd_slot_fail(gsd_jobs *jobs, gsd_worker *me, unsigned n, gsd_failure failure,
						  const char *message);

/*
 * Sees to all slots that the thread `me` owns: opens, feeds and releases their jobs, and hands
 * large ones to the main sorter.
 */
extern void gsd_slots_look(gsd_jobs *jobs, gsd_worker *me);

/* Fails the jobs that the thread `me` owns, since devices can't be used any more. */
extern void gsd_slots_fail(gsd_jobs *jobs, gsd_worker *me);

/* ---------- workers: the threads that sort ---------- */

/*
 * gsd_start_lane() starts the thread of a lane, which sorts the jobs that it is given (in
 * gsd_worker's job), and gsd_start_main() that of the main sorter, which sorts the jobs whose slots
 * it owns.  Both go on until gsd_thread_end().  They return false if there is no thread to be had.
 */
extern bool gsd_start_lane(gsd_jobs *jobs, unsigned lane);
extern bool gsd_start_main(gsd_jobs *jobs, const gs_group *group);

#endif							/* DAEMON_JOBS_H */
