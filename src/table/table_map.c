/*
 * table_map.c
 *		Looking up which pages of a table are all-visible; see table_map.h.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/guc.h"

#include "table/table_map.h"

/* Pages of a map that are kept pinned at most: those of a table of 256 GB. */
#define MAX_PINS	1024

/* A map takes this part of a session's even share of the buffers at most: a join has three maps. */
#define SHARE_DIVISOR	4

static uint32
count_pages(BlockNumber table_pages)
{
	return table_pages / GPUSORT_MAP_PAGE_BLOCKS + 1;
}

/* Returns how many pages of a map may be pinned, given a session's share of the buffers. */
static uint32
count_pins(BlockNumber table_pages, int buffers)
{
	return Max(1, Min(count_pages(table_pages), Min(MAX_PINS, buffers / SHARE_DIVISOR)));
}

void
gpusort_table_map_begin(GpuSortTableMap *map, Relation heap)
{
	map->heap = heap;
	map->max_pins = count_pins(RelationGetNumberOfBlocks(heap),
							   RelationUsesLocalBuffers(heap) ? num_temp_buffers
							   : NBuffers / MaxBackends);
	map->pins = palloc(map->max_pins * sizeof(Buffer));
	for (uint32 i = 0; i < map->max_pins; i++)
		map->pins[i] = InvalidBuffer;
}

void
gpusort_table_map_end(GpuSortTableMap *map)
{
	for (uint32 i = 0; i < map->max_pins; i++)
	{
		if (BufferIsValid(map->pins[i]))
			ReleaseBuffer(map->pins[i]);
	}
	map->max_pins = 0;
}

double
gpusort_table_map_pinning_share(BlockNumber table_pages)
{
	return 1 - (double) count_pins(table_pages, NBuffers / MaxBackends) / count_pages(table_pages);
}
