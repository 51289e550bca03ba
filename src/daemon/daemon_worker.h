/*
 * daemon_worker.h
 *		The threads that sort: the main sorter and lanes.
 */
#ifndef DAEMON_WORKER_H
#define DAEMON_WORKER_H

#include "daemon/daemon_slot.h"

/*
 * gsd_start_lane() starts the thread of a lane, which sorts the jobs that it is given (in
 * gsd_worker's job), and gsd_start_main() that of the main sorter, which sorts the jobs whose slots
 * it owns.  Both go on until gsd_thread_end().  They return false if there is no thread to be had.
 */
extern bool gsd_start_lane(gsd_jobs *jobs, unsigned lane);
extern bool gsd_start_main(gsd_jobs *jobs, const gs_group *group);

#endif							/* DAEMON_WORKER_H */
