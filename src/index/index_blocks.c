/*
 * index_blocks.c
 *		Deals the pages of the table out to the processes of an index build; see index_blocks.h.
 */
#include "postgres.h"

#include "index/index_blocks.h"
#include "index/index_progress.h"

/* Number of pages that a process takes at a time, if several processes read. */
#define CHUNK_PAGES			32

void
gpusort_blocks_init(GpuSortSharedBlocks *shared)
{
	pg_atomic_init_u32(&shared->next, 0);
	pg_atomic_init_u32(&shared->read, 0);
}

void
gpusort_blocks_begin(GpuSortIndexBlocks *blocks, BlockNumber total)
{
	blocks->total = total;
	gpusort_blocks_report(blocks);
}

bool
gpusort_blocks_take(GpuSortIndexBlocks *blocks, BlockNumber *from, BlockNumber *end)
{
	if (blocks->shared == NULL)
	{
		*from = blocks->taken;
		*end = blocks->taken = blocks->total;
		return *from < *end;
	}

	/* each process adds to a counter that has passed the end at most once, so this can't wrap */
	*from = pg_atomic_read_u32(&blocks->shared->next);
	if (*from < blocks->total)
		*from = pg_atomic_fetch_add_u32(&blocks->shared->next, CHUNK_PAGES);
	if (*from >= blocks->total)
		return false;
	*end = *from + Min(blocks->total - *from, CHUNK_PAGES);
	return true;
}

void
gpusort_blocks_count(GpuSortIndexBlocks *blocks, BlockNumber pages)
{
	blocks->read += pages;
	if (blocks->shared != NULL)
		pg_atomic_fetch_add_u32(&blocks->shared->read, pages);
	gpusort_blocks_report(blocks);
}

void
gpusort_blocks_stop(GpuSortIndexBlocks *blocks)
{
	blocks->taken = blocks->total;
	if (blocks->shared != NULL)
		pg_atomic_write_u32(&blocks->shared->next, blocks->total);
}

BlockNumber
gpusort_blocks_read(const GpuSortIndexBlocks *blocks)
{
	return blocks->shared != NULL ? pg_atomic_read_u32(&blocks->shared->read) : blocks->read;
}

void
gpusort_blocks_report(const GpuSortIndexBlocks *blocks)
{
	if (blocks->reports && blocks->total > 0)
		gpusort_progress_pages(gpusort_blocks_read(blocks), blocks->total);
}
