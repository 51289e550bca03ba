/*
 * test_cuda_group.c
 *		Tests on GPUs.
 *
 * Device d of a group is GPU d modulo the number of GPUs, so that one GPU plays
 * as many as a test wants.  Devices stay open from one group to the next, for to
 * open one takes longer than most tests do; they are opened again for arenas of
 * another size.  GPUSORT_TEST_GPUS limits the number of GPUs.
 */
#include <stdio.h>
#include <stdlib.h>

#include "gs_cuda.h"
#include "test_group.h"

/* Of the device that host memory is registered through. */
#define REGISTRAR_ARENA_BYTES	((size_t) 1 << 20)

static gs_device *devices[GS_MAX_DEVICES];
static unsigned ndevices;
static size_t devices_arena_bytes;

static gs_device *
open_device(unsigned index, size_t arena_bytes)
{
	const char *limit = getenv("GPUSORT_TEST_GPUS");
	unsigned	ngpus = gs_cuda_count();
	char		error[256];
	gs_device  *device;

	if (limit != NULL && (unsigned) atoi(limit) < ngpus)
		ngpus = (unsigned) atoi(limit);
	device = gs_cuda_device_open(index, ngpus == 0 ? 0 : (int) (index % ngpus), arena_bytes, 0,
								 error, sizeof(error));
	if (device == NULL)
	{
		printf("Bail out! cannot open device %u: %s\n", index, error);
		exit(1);
	}
	return device;
}

static void
close_devices(void)
{
	while (ndevices > 0)
	{
		ndevices--;
		devices[ndevices]->ops->close(devices[ndevices]);
	}
}

static void
open_devices(unsigned g, size_t arena_bytes)
{
	if (arena_bytes != devices_arena_bytes)
		close_devices();
	devices_arena_bytes = arena_bytes;
	if (g <= ndevices)
		return;
	while (ndevices < g)
	{
		devices[ndevices] = open_device(ndevices, arena_bytes);
		ndevices++;
	}
	if (gs_cuda_group_connect(devices, ndevices) != GS_OK)
	{
		printf("Bail out! cannot connect the devices: %s\n", devices[0]->error);
		exit(1);
	}
}

gs_group *
test_group_open(unsigned g, size_t arena_bytes)
{
	gs_group   *group = calloc(1, sizeof(*group));

	open_devices(g, arena_bytes);
	group->ndevices = g;
	for (unsigned d = 0; d < g; d++)
		group->devices[d] = devices[d];
	return group;
}

gs_group *
test_group_open_failing(unsigned g, size_t arena_bytes, unsigned device, uint64_t fail_at)
{
	return NULL;
}

void
test_group_close(gs_group *group)
{
	for (unsigned d = 0; d < group->ndevices; d++)
		if (group->devices[d]->ops->reset(group->devices[d]) != GS_OK)
		{
			printf("Bail out! device %u: %s\n", d, group->devices[d]->error);
			exit(1);
		}
	free(group);
}

static gs_device *
registrar(void)
{
	static gs_device *device;

	if (device == NULL)
		device = open_device(0, REGISTRAR_ARENA_BYTES);
	return device;
}

void *
test_memory_alloc(size_t bytes)
{
	size_t		pages = bytes / 4096 + 1;
	void	   *memory = aligned_alloc(4096, pages * 4096);
	gs_device  *device = registrar();

	if (memory != NULL && device->ops->host_register(device, memory, pages * 4096) != GS_OK)
	{
		printf("Bail out! cannot register host memory: %s\n", device->error);
		exit(1);
	}
	return memory;
}

void
test_memory_free(void *memory)
{
	if (memory != NULL)
		registrar()->ops->host_unregister(registrar(), memory);
	free(memory);
}
