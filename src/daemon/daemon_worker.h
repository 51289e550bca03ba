/*
 * daemon_worker.h
 *		The threads that sort: the main sorter and lanes.
 */
#ifndef DAEMON_WORKER_H
#define DAEMON_WORKER_H

#include "daemon/daemon_slot.h"

/*
 * Have a lane sort the jobs that it is given (gsd_worker's job), and the main sorter those that
 * become its own; until gsd_thread_end().  False: there is no thread.
 */
extern bool gsd_start_lane(gsd_jobs *jobs, unsigned lane);
extern bool gsd_start_main(gsd_jobs *jobs, const gs_group *group);

#endif							/* DAEMON_WORKER_H */
