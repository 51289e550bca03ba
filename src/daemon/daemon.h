/*
 * daemon.h
 *		gpusortd: its options, its log, its memory, its devices, and its threads.
 */
#ifndef DAEMON_H
#define DAEMON_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "protocol/gsd_pool.h"
#include "engine/device/gs_device.h"
#include "engine/device/gs_device_sort.h"
#include "engine/simulated/gs_simulated_device.h"

/* ---------- log: lines for the server's ---------- */

/* Writes a line to stderr, which is the server's. */
extern void gsd_log(const char *format,...) __attribute__((format(printf, 1, 2)));

/* ---------- options: the command line ---------- */

typedef enum gsd_action
{
	GSD_ACTION_SERVE,
	GSD_ACTION_PROBE,
	GSD_ACTION_VERSION,
	GSD_ACTION_HELP
} gsd_action;

typedef enum gsd_engine
{
	GSD_ENGINE_AUTO,			/* the same as GSD_ENGINE_CUDA, for now */
	GSD_ENGINE_CUDA,
	GSD_ENGINE_SIMULATED
} gsd_engine;

/* The faults that the daemon can be asked to make, for tests. */
typedef enum gsd_fault
{
	GSD_FAULT_NONE,
	GSD_FAULT_OPERATION,		/* the fault_at-th operation of a device fails */
	GSD_FAULT_OPERATIONS,		/* so do all that follow */
	/* the first device damages rows, each fault_at-th time that it moves some */
	GSD_FAULT_WRONG,
	GSD_FAULT_LOST,				/* the fault_at-th run of a job loses a device */
	GSD_FAULT_ABI,				/* the pool is taken for one of another ABI version */
	GSD_FAULT_CRASH,			/* the program crashes in its fault_at-th run */
	GSD_FAULT_CRASH_LATE,		/* it crashes in that run when the first rows are ready */
	GSD_FAULT_STOP,				/* the program stops, as by SIGSTOP, in its fault_at-th run, once */
	GSD_FAULT_STOP_LATE,		/* it stops in that run when the first rows are ready */
	GSD_FAULT_CRASH_REORDER,	/* it crashes in that run when the first rows are reordered */
	GSD_FAULT_STOP_REORDER		/* it stops in that run when the first rows are reordered */
} gsd_fault;

typedef struct gsd_options
{
	gsd_action	action;
	gsd_engine	engine;

	/* --devices: how many simulated devices, or the numbers of the CUDA devices; 0 if not given */
	unsigned	simulated_devices;	/* 0: the default number */
	unsigned	ncuda_devices;	/* 0: all devices */
	unsigned	cuda_devices[GSD_MAX_DEVICES];

	/* --device-memory, in one of two units; the other field is 0 */
	unsigned	memory_percent;
	uint64_t	memory_bytes;

	/* options that the supervisor sets */
	uint64_t	supervisor_pid;
	int			pool_fd;
	uint64_t	pool_bytes;

	/* for tests; device_rows and bucket_rows as in gs_device_options */
	uint64_t	device_rows;
	uint64_t	bucket_rows;
	uint64_t	step_rows;		/* most rows said to be ready at once; 0: any number */

	unsigned	lanes;			/* how many lanes each device has */

	gsd_fault	fault;
	uint64_t	fault_at;
	gs_damage	damage;			/* GSD_FAULT_WRONG */
} gsd_options;

/* Reads the command line; on a mistake says so on stderr and returns false. */
extern bool gsd_read_options(gsd_options *options, int argc, char **argv);

extern void gsd_print_help(void);

/* ---------- memory: the pool's, as gpusortd maps it ---------- */

/* Maps the pool.  Returns 0, or the exit status to end with, after logging the reason. */
extern gsd_exit gsd_map_pool(const gsd_options *options, gsd_pool *pool);

/*
 * Makes every page of the pool present, and tells the devices of it, so that they read and write it
 * at the speed of their link.
 */
extern gs_status gsd_register_pool(const gsd_pool *pool, gs_device *device);

/* ---------- devices: the group that gpusortd sorts on ---------- */

/*
 * Has the driver make its device files, if it has not yet, by whatever program it calls for that.
 * This is the last chance: a program that runs as root can't be called any more after gpusortd has
 * given up the right to gain privileges.
 */
extern void gsd_wake_driver(const gsd_options *options);

/*
 * Opens the devices of a group.  Returns 0, or the exit status to end with if there are none; then
 * why[] says why not.  *cuda is set if they are CUDA devices, and not simulated ones.
 */
extern gsd_exit gsd_open_devices(const gsd_options *options, gs_group *group, bool *cuda,
								 char *why, size_t why_size);

extern void gsd_close_devices(gs_group *group);

/* Fills the pool's table of devices. */
extern void gsd_publish_devices(const gs_group *group, bool cuda, gsd_service *service);

/* Returns how much memory for sorting is free, of all devices together. */
extern uint64_t gsd_device_bytes_free(const gs_group *group);

/* Prints the devices, for --probe. */
extern void gsd_print_devices(const gs_group *group, bool cuda);

/* ---------- thread: one that sleeps until there is something to do ---------- */

typedef struct gsd_thread
{
	pthread_t	thread;
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	uint64_t	told;			/* how often the thread was told */
	/* what `told` was when the thread, before it went to sleep, looked last */
	uint64_t	seen;
	bool		ending;
	bool		asleep;
} gsd_thread;

/*
 * Starts a thread, whose body looks for things to do and sleeps while there are none.  Returns
 * false if there is no thread to be had.
 */
extern bool gsd_thread_start(gsd_thread *thread, void *(*body) (void *), void *arg);

/*
 * Tells the thread that there may be something to do.  The thread sees what was written before
 * that.
 */
extern void gsd_thread_tell(gsd_thread *thread);

/*
 * The body calls gsd_thread_told() before it looks for things to do, and when it has found none
 * gsd_thread_sleep(), with the number that it was given.  That sleeps unless the thread was told of
 * something since, and returns false if the thread is to end.
 */
extern uint64_t gsd_thread_told(gsd_thread *thread);
extern bool gsd_thread_sleep(gsd_thread *thread, uint64_t told);

/* Waits until the thread has looked at all that it was told of, and sleeps. */
extern void gsd_thread_settle(gsd_thread *thread);

/* Has the thread end when it has nothing to do, and waits for that. */
extern void gsd_thread_end(gsd_thread *thread);

#endif							/* DAEMON_H */
