/*
 * device_bench.h
 *		Parts of the benchmark of sorting on a group of devices.
 */
#ifndef DEVICE_BENCH_H
#define DEVICE_BENCH_H

#include "engine/device/gs_device_sort.h"

#define BENCH_MAX_PHASES	16
#define BENCH_MAX_SPANS		4096

/* What bench_links() finds, 10^9 bytes a second. */
typedef struct bench_link_speeds
{
	double		up[GS_MAX_DEVICES];
	double		down[GS_MAX_DEVICES];
	double		all_up[GS_MAX_DEVICES + 1];		/* devices 0 .. i - 1 together */
	double		all_down[GS_MAX_DEVICES + 1];
} bench_link_speeds;

/* Time of one phase: on the device that took longest for it. */
typedef struct bench_phase
{
	const char *name;
	double		ms;
} bench_phase;

typedef struct bench_phases
{
	unsigned	nphases;
	bench_phase phases[BENCH_MAX_PHASES];
	double		work_ms;		/* some queue works, statistics and transfers left out */
} bench_phases;

/* One device's spans, as read from its trace. */
typedef struct bench_spans
{
	unsigned	count;
	gs_span_time spans[BENCH_MAX_SPANS];
} bench_spans;

/* Which devices a group has. */
typedef struct bench_group_options
{
	bool		host;			/* simulated ones */
	bool		same_gpu;		/* the first GPU, again and again */
	unsigned	ndevices;
	size_t		arena_bytes;	/* 0: as much as there is, host_arena_bytes of simulated ones */
	size_t		host_arena_bytes;
} bench_group_options;

/* Open the devices, which keep traces; ends the program if that fails. */
extern void bench_group_open(gs_group *group, const bench_group_options *options);
extern void bench_group_close(gs_group *group);

/* Memory as of bench_allocate() that the devices were told of. */
extern void *bench_group_allocate(const gs_group *group, size_t bytes);

/* Let go of what earlier jobs had. */
extern void bench_group_reset(const gs_group *group);

/* A job of one plane, until its last id is in place; its traces are read at the end. */
extern gs_device_job *bench_job_begin(gs_group *group, uint64_t nrows);
extern void bench_job_run(gs_device_job *job, const gs_device_args *args, gs_device_result *result);
extern void bench_job_end(gs_device_job *job, const gs_group *group, bench_spans *spans);

/* Ends the program with device->error unless the status is GS_OK. */
extern void bench_must(gs_device *device, gs_status status, const char *what);

/* Wait for all that is on a queue. */
extern void bench_finish(gs_device *device, gs_queue queue);

/* Host memory of at least so many bytes that the devices were told of. */
extern bench_link_speeds bench_links(gs_device **devices, unsigned ndevices, void *host,
									 size_t bytes);

/* The plain sort of the packed bits on one device: median ms of `repeats`. */
extern double bench_plain_sort(gs_device *device, const uint64_t *words, uint64_t nrows,
							   unsigned repeats);

/* ms by phase of one run on devices [0, ndevices). */
extern bench_phases bench_sum_phases(const bench_spans *spans, unsigned ndevices);

/*
 * Adds how long a run, given by the times of bench_now_ms() at which it began and ended, had no
 * span yet ("before"), and none any more ("after").
 */
extern void bench_add_ends(bench_phases *sums, const bench_spans *spans, unsigned ndevices,
						   double begin_ms, double end_ms);

/* A file for chrome://tracing or ui.perfetto.dev; false if it can't be written. */
extern bool bench_write_trace(const char *path, const bench_spans *spans, unsigned ndevices);

#endif							/* DEVICE_BENCH_H */
