/*
 * daemon_devices.c
 *		The group of devices that the daemon sorts on.
 *
 * These are CUDA devices, if the program was built with them, or simulated devices, which are there
 * to test everything but the GPUs: each owns a part of this machine's memory as a GPU owns its own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef GS_WITH_CUDA
#include "gs_cuda.h"
#endif

#include "daemon/daemon.h"
#include "engine/simulated/gs_simulated_device.h"

#define DEFAULT_SIMULATED_DEVICES 1

/* Returns how much memory each of n simulated devices gets. */
static size_t
simulated_arena_bytes(const gsd_options *options, unsigned n)
{
	uint64_t	machine_bytes = (uint64_t) sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);

	if (options->memory_bytes > 0)
		return options->memory_bytes;
	return machine_bytes / 100 * options->memory_percent / n;
}

static gsd_exit
open_simulated_devices(const gsd_options *options, gs_group *group, char *why, size_t why_size)
{
	unsigned	n = options->simulated_devices > 0 ? options->simulated_devices
		: DEFAULT_SIMULATED_DEVICES;
	bool		for_good = options->fault == GSD_FAULT_OPERATIONS;
	uint64_t	fail_at = for_good || options->fault == GSD_FAULT_OPERATION ? options->fault_at : 0;

	if (n > GSD_MAX_DEVICES)
	{
		snprintf(why, why_size, "at most %d devices are possible", GSD_MAX_DEVICES);
		return GSD_EXIT_NO_DEVICE;
	}
	for (unsigned i = 0; i < n; i++)
	{
		group->devices[i] = gs_simulated_device_open(i, simulated_arena_bytes(options, n), fail_at);
		if (group->devices[i] == NULL)
		{
			snprintf(why, why_size, "no memory for simulated device %u", i);
			gsd_close_devices(group);
			return GSD_EXIT_NO_MEMORY;
		}
		group->ndevices = i + 1;
		if (for_good)
			gs_simulated_device_keep_failing(group->devices[i]);
	}
	if (options->fault == GSD_FAULT_WRONG)
		gs_simulated_device_spoil(group->devices[0], options->damage, options->fault_at,
								  options->fault_at);
	return GSD_EXIT_ASKED;
}

#ifdef GS_WITH_CUDA

/* Returns the number of the i-th CUDA device to open. */
static int
cuda_device_number(const gsd_options *options, unsigned i)
{
	return (int) (options->ncuda_devices > 0 ? options->cuda_devices[i] : i);
}

static gsd_exit
open_cuda_devices(const gsd_options *options, gs_group *group, char *why, size_t why_size)
{
	/* lanes have queues of their own, which by default would share few connections to the GPU */
	int			several = setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
	unsigned	present = several == 0 ? gs_cuda_count() : 0;
	unsigned	n = options->ncuda_devices > 0 ? options->ncuda_devices : present;

	if (present == 0)
	{
		snprintf(why, why_size, "there is no CUDA device, or no driver for it");
		return GSD_EXIT_NO_DEVICE;
	}
	if (n > GSD_MAX_DEVICES)
		n = GSD_MAX_DEVICES;
	for (unsigned i = 0; i < n; i++)
	{
		group->devices[i] = gs_cuda_device_open(i, cuda_device_number(options, i),
												options->memory_bytes, options->memory_percent,
												why, why_size);
		if (group->devices[i] == NULL)
		{
			gsd_close_devices(group);
			return GSD_EXIT_NO_DEVICE;
		}
		group->ndevices = i + 1;
	}
	if (gs_cuda_group_connect(group->devices, n) == GS_OK)
		return GSD_EXIT_ASKED;
	snprintf(why, why_size, "%s", group->devices[0]->error);
	gsd_close_devices(group);
	return GSD_EXIT_NO_DEVICE;
}

#endif							/* GS_WITH_CUDA */

void
gsd_wake_driver(const gsd_options *options)
{
#ifdef GS_WITH_CUDA
	pid_t		pid;

	if (options->engine == GSD_ENGINE_SIMULATED ||
		(access("/dev/nvidiactl", F_OK) == 0 && access("/dev/nvidia-uvm", F_OK) == 0))
		return;

	/* the driver starts threads, so it is used in another process, not in this one */
	pid = fork();
	if (pid == 0)
	{
		(void) gs_cuda_count();
		_exit(0);
	}
	if (pid > 0)
		(void) waitpid(pid, NULL, 0);
#endif
}

gsd_exit
gsd_open_devices(const gsd_options *options, gs_group *group, bool *cuda, char *why,
				 size_t why_size)
{
	memset(group, 0, sizeof(*group));
	group->options.device_rows = options->device_rows;
	group->options.bucket_rows = options->bucket_rows;
	*cuda = options->engine != GSD_ENGINE_SIMULATED;
	if (!*cuda)
		return open_simulated_devices(options, group, why, why_size);
#ifdef GS_WITH_CUDA
	return open_cuda_devices(options, group, why, why_size);
#else
	snprintf(why, why_size, "this gpusortd was built without CUDA");
	return GSD_EXIT_NO_CUDA;
#endif
}

void
gsd_close_devices(gs_group *group)
{
	for (unsigned i = 0; i < group->ndevices; i++)
		group->devices[i]->ops->close(group->devices[i]);
	group->ndevices = 0;
}

void
gsd_publish_devices(const gs_group *group, bool cuda, gsd_service *service)
{
	for (unsigned i = 0; i < group->ndevices; i++)
	{
		gsd_device_info *entry = &service->devices[i];
		gs_device_info info;

		memset(&info, 0, sizeof(info));
		group->devices[i]->ops->info(group->devices[i], &info);
		memcpy(entry->name, info.name, sizeof(entry->name));
		entry->name[sizeof(entry->name) - 1] = '\0';
		entry->memory_bytes = info.memory_bytes;
		entry->arena_bytes = info.arena_bytes;
		entry->number = info.number;
		entry->peers = info.peers;
	}
	service->engine = cuda;
	service->ndevices = group->ndevices;
}

uint64_t
gsd_device_bytes_free(const gs_group *group)
{
	uint64_t	bytes = 0;

	for (unsigned i = 0; i < group->ndevices; i++)
		bytes += group->devices[i]->ops->largest_free(group->devices[i]);
	return bytes;
}

void
gsd_print_devices(const gs_group *group, bool cuda)
{
	for (unsigned i = 0; i < group->ndevices; i++)
	{
		gs_device_info info;

		memset(&info, 0, sizeof(info));
		group->devices[i]->ops->info(group->devices[i], &info);
		printf("%s device %u: %s, %.1f GiB, %.1f GiB for sorting\n", cuda ? "CUDA" : "simulated",
			   info.number, info.name, info.memory_bytes / 1073741824.0,
			   info.arena_bytes / 1073741824.0);
	}
}
