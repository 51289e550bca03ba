/*
 * daemon_slot.h
 *		The slots of the pool's jobs, and the threads that own them.
 *
 * Only the thread that owns a slot may touch it.  Where a function takes the thread that calls it
 * (me), or the thread that a slot is handed to (owner), NULL stands for the dispatcher.
 */
#ifndef DAEMON_SLOT_H
#define DAEMON_SLOT_H

#include "daemon/daemon_jobs.h"
#include "daemon/daemon_lanes.h"
#include "daemon/daemon_queue.h"
#include "daemon/daemon_sort.h"
#include "daemon/daemon_thread.h"

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

#endif							/* DAEMON_SLOT_H */
