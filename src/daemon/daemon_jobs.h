/*
 * daemon_jobs.h
 *		Serving the jobs of the pool.
 */
#ifndef DAEMON_JOBS_H
#define DAEMON_JOBS_H

#include "engine/device/gs_device_sort.h"

#include "daemon/daemon_options.h"
#include "protocol/gsd_exit.h"
#include "protocol/gsd_pool.h"

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

#endif							/* DAEMON_JOBS_H */
