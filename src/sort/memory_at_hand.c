/*
 * memory_at_hand.c
 *		How much memory rows take, and how much there is for them; see memory_private.h.
 */
#include "postgres.h"

#include "engine/host/gs_sort.h"
#include "sort/memory_private.h"

/* A number of rows whose bitmaps are whole words. */
#define MANY_ROWS	(1 << 20)

static bool
add_bytes(GpuSortRange **range, size_t bytes, void *arg)
{
	*(size_t *) arg += bytes;
	return true;
}

size_t
gpusort_bytes_of_rows(GpuSort *sort, uint64 rows)
{
	size_t		bytes = rows * average_row_bytes(&sort->rows);

	gpusort_visit_planes(sort, rows, add_bytes, &bytes);
	gpusort_visit_workspace(sort, rows, add_bytes, &bytes);
	return bytes - Min(bytes, gs_sort_workspace_bytes(0));
}

size_t
gpusort_bytes_beside_row(GpuSort *sort)
{
	size_t		bytes = 0;

	gpusort_visit_planes(sort, MANY_ROWS, add_bytes, &bytes);
	gpusort_visit_workspace(sort, MANY_ROWS, add_bytes, &bytes);
	return bytes / MANY_ROWS + 1;
}

size_t
gpusort_pool_bytes_at_hand(const GpuSort *sort)
{
	const GpuSortPoolAccount *account = &sort->memory.pool_account;
	uint32		extents = pg_atomic_read_u32(account->extents) + gpusort_pool_room(account);

	return (extents - Min(extents, sort->memory.kept_extents)) * (size_t) GSD_EXTENT_BYTES;
}

size_t
gpusort_memory_at_hand(GpuSort *sort)
{
	const GpuSortMemory *memory = &sort->memory;
	size_t		private_bytes = memory->limit_bytes -
		Min(memory->beside_bytes, memory->limit_bytes);
	size_t		pool_bytes = gpusort_pool_bytes_at_hand(sort);
	/* the last extent of each range is half empty, on average */
	size_t		unused_bytes = gpusort_count_ranges(sort) * (GSD_EXTENT_BYTES / 2);

	return private_bytes + (pool_bytes > unused_bytes ? pool_bytes - unused_bytes : 0);
}
