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

/* NULL: out of memory. */
extern gsd_jobs *gsd_jobs_begin(gsd_pool *pool, gs_group *group, const gsd_options *options);

/*
 * Hand out what there is to do of all jobs, and return GSD_EXIT_ASKED; the pool is rung
 * when there is more.  Else all jobs have failed, for a device is lost or devices sort
 * wrongly, and the program should end with this status.
 */
extern gsd_exit gsd_jobs_serve(gsd_jobs *jobs);

/* The same again and again, until all of it is done: for tests. */
extern gsd_exit gsd_jobs_settle(gsd_jobs *jobs);

/* Finish what is running, and give all memory back, the group's as well; for tests. */
extern void gsd_jobs_end(gsd_jobs *jobs);

#endif							/* DAEMON_JOBS_H */
