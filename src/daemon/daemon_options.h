/*
 * daemon_options.h
 *		The command line of gpusortd.
 */
#ifndef DAEMON_OPTIONS_H
#define DAEMON_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/simulated/gs_simulated_spoil.h"
#include "protocol/gsd_pool.h"

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

#endif							/* DAEMON_OPTIONS_H */
