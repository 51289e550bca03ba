/*
 * bench_group.c
 *		A group of devices in benchmarks: opening, running a job, reading traces.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bench_host.h"
#include "device_bench.h"
#include "engine/simulated/gs_simulated_device.h"
#include "gs_cuda.h"

static gs_device *
open_device(const bench_group_options *options, unsigned index)
{
	char		error[256] = "no memory";
	unsigned	ngpus = options->host || options->same_gpu ? 1 : gs_cuda_count();
	gs_device  *device;

	if (options->host)
		device = gs_simulated_device_open(index, options->arena_bytes > 0 ? options->arena_bytes :
										  options->host_arena_bytes, 0);
	else
		device = gs_cuda_device_open(index, ngpus == 0 ? 0 : (int) (index % ngpus),
									 options->arena_bytes,
									 options->same_gpu ? 80 / options->ndevices : 0,
									 error, sizeof(error));
	if (device == NULL)
	{
		fprintf(stderr, "cannot open device %u: %s\n", index, error);
		exit(1);
	}
	return device;
}

void
bench_group_open(gs_group *group, const bench_group_options *options)
{
	group->ndevices = options->ndevices;
	for (unsigned d = 0; d < group->ndevices; d++)
	{
		group->devices[d] = open_device(options, d);
		group->devices[d]->ops->keep_trace(group->devices[d], true);
	}
	if (!options->host)
		bench_must(group->devices[0], gs_cuda_group_connect(group->devices, group->ndevices),
				   "connect");
}

void
bench_group_close(gs_group *group)
{
	for (unsigned d = 0; d < group->ndevices; d++)
		group->devices[d]->ops->close(group->devices[d]);
}

void *
bench_group_allocate(const gs_group *group, size_t bytes)
{
	gs_device  *device = group->devices[0];
	void	   *memory = bench_allocate(bytes);

	bench_must(device, device->ops->host_register(device, memory, bytes), "host_register");
	return memory;
}

static void
must_job(gs_status status, const char *message)
{
	if (status == GS_OK)
		return;
	fprintf(stderr, "%s (%s)\n", gs_status_text(status), message == NULL ? "" : message);
	exit(1);
}

void
bench_group_reset(const gs_group *group)
{
	for (unsigned d = 0; d < group->ndevices; d++)
		bench_must(group->devices[d], group->devices[d]->ops->reset(group->devices[d]), "reset");
}

gs_device_job *
bench_job_begin(gs_group *group, uint64_t nrows)
{
	gs_device_job *job;

	must_job(gs_device_begin(group, 1, nrows, &job), NULL);
	return job;
}

void
bench_job_run(gs_device_job *job, const gs_device_args *args, gs_device_result *result)
{
	const char *message = NULL;
	uint64_t	ready = 0;

	must_job(gs_device_run(job, args, result, &message), message);
	while (ready < args->nrows)
		must_job(gs_device_wait(job, &ready, &message), message);
}

void
bench_job_end(gs_device_job *job, const gs_group *group, bench_spans *spans)
{
	for (unsigned d = 0; d < group->ndevices; d++)
		spans[d].count = group->devices[d]->ops->read_trace(group->devices[d], spans[d].spans,
														   BENCH_MAX_SPANS);
	gs_device_end(job);
}
