/*
 * test_simulated_group.c
 *		Tests on simulated devices.
 */
#include <stdlib.h>

#include "engine/simulated/gs_simulated_device.h"
#include "test_group.h"

gs_group *
test_group_open_failing(unsigned g, size_t arena_bytes, unsigned device, uint64_t fail_at)
{
	gs_group   *group = calloc(1, sizeof(*group));

	group->ndevices = g;
	for (unsigned d = 0; d < g; d++)
		group->devices[d] = gs_simulated_device_open(d, arena_bytes, d == device ? fail_at : 0);
	return group;
}

gs_group *
test_group_open(unsigned g, size_t arena_bytes)
{
	return test_group_open_failing(g, arena_bytes, 0, 0);
}

void
test_group_close(gs_group *group)
{
	for (unsigned d = 0; d < group->ndevices; d++)
		group->devices[d]->ops->close(group->devices[d]);
	free(group);
}

void *
test_memory_alloc(size_t bytes)
{
	return aligned_alloc(64, (bytes + 63) / 64 * 64);
}

void
test_memory_free(void *memory)
{
	free(memory);
}
