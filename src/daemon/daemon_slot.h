/*
 * daemon_slot.h
 *		The slots of the pool's jobs, and the threads that own them.
 *
 * Whoever owns a slot may touch it, nobody else.  A thread is NULL here where the dispatcher is meant.
 */
#ifndef DAEMON_SLOT_H
#define DAEMON_SLOT_H

#include "daemon/daemon_jobs.h"
#include "daemon/daemon_lanes.h"
#include "daemon/daemon_queue.h"
#include "daemon/daemon_sort.h"
#include "daemon/daemon_thread.h"

#define GSD_NOBODY	(-1)

/* A slot of the pool's jobs, as the daemon sees it. */
typedef enum gsd_slot_phase
{
	GSD_SLOT_FREE,
	GSD_SLOT_OPEN,					/* rows are coming */
	GSD_SLOT_READY,					/* waits for its turn */
	GSD_SLOT_RUNNING,
	GSD_SLOT_ANSWERED				/* DONE or FAILED; waits to be closed */
} gsd_slot_phase;

typedef struct gsd_worker gsd_worker;

typedef struct gsd_slot
{
	gsd_worker *_Atomic owner;	/* NULL: the dispatcher; all that follows is the owner's */
	gsd_slot_phase phase;
	bool		large;			/* lanes have no room for it */
	bool		text;			/* nothing is to be sorted */
	gsd_work	work;
} gsd_slot;

/* A thread that sorts. */
struct gsd_worker
{
	gsd_jobs   *jobs;
	gsd_thread	thread;
	gsd_sorter	sorter;
	_Atomic int job;			/* of a lane: that it is to sort; or GSD_NOBODY */
	gsd_queue	queue;			/* of the main sorter: its slots that are ready */
};

struct gsd_jobs
{
	gsd_common	common;
	gsd_service *service;
	_Atomic unsigned wrong_runs;	/* that devices sorted wrongly */
	_Atomic gsd_exit end;		/* why nothing goes on; GSD_EXIT_ASKED: it does */

	gsd_slot	slots[GSD_MAX_JOBS];
	gsd_worker	main;
	_Atomic uint64_t main_rows; /* of the job that it sorts; 0: none */
	_Atomic uint64_t main_runs; /* that it has begun */

	/* the dispatcher's */
	gsd_lanes	lanes;
	gsd_worker *lane_workers;	/* lanes.count of them */
	gsd_queue	queue;			/* of small jobs that are ready */
	uint64_t	passed_run;		/* the run of the main sorter that ... */
	uint64_t	passed_rows;	/* so many rows have gone to lanes during */
};

/* The job of a slot, in the pool. */
extern gsd_job *gsd_slot_job(gsd_jobs *jobs, unsigned n);

/* Have nothing on devices any more. */
extern void gsd_slot_empty(gsd_worker *me, gsd_slot *slot);

/* Let another thread have a slot; give it back to the dispatcher, whoever has it. */
extern void gsd_slot_hand(gsd_jobs *jobs, unsigned n, gsd_worker *owner);
extern void gsd_slot_give_back(gsd_jobs *jobs, gsd_worker *me, unsigned n);

/* Answer a job with a failure. */
extern void gsd_slot_fail(gsd_jobs *jobs, gsd_worker *me, unsigned n, gsd_failure failure,
						  const char *message);

/* See to all that are one's own: open, feed and release them, and hand large ones to the main sorter. */
extern void gsd_slots_look(gsd_jobs *jobs, gsd_worker *me);

/* Devices can't be used any more: one's own jobs go back to where they came from. */
extern void gsd_slots_fail(gsd_jobs *jobs, gsd_worker *me);

#endif							/* DAEMON_SLOT_H */
