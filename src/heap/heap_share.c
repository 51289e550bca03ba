/*
 * heap_share.c
 *		What the processes that read a table to be copied share; see heap_share.h.
 */
#include "postgres.h"

#include "heap/heap_progress.h"
#include "heap/heap_share.h"

/* Number of pages that a process takes at a time; enough for the kernel to read ahead. */
#define PAGES_TAKEN		32

void
gpusort_heap_share_init(GpuSortHeapShare *share, BlockNumber nblocks)
{
	memset(share, 0, sizeof(*share));
	share->nblocks = nblocks;
	pg_atomic_init_u64(&share->next, 0);
	pg_atomic_init_u64(&share->read, 0);
	pg_atomic_init_u64(&share->kept, 0);
	pg_atomic_init_u32(&share->stopped, 0);
	SpinLockInit(&share->mutex);
}

bool
gpusort_heap_share_take(GpuSortHeapShare *share, BlockNumber *from, BlockNumber *end)
{
	uint64		taken;

	if (pg_atomic_read_u32(&share->stopped) != 0)
		return false;
	taken = pg_atomic_fetch_add_u64(&share->next, PAGES_TAKEN);
	if (taken >= share->nblocks)
		return false;
	*from = (BlockNumber) taken;
	*end = (BlockNumber) Min(taken + PAGES_TAKEN, share->nblocks);
	return true;
}

void
gpusort_heap_share_count(GpuSortHeapShare *share, int versions)
{
	pg_atomic_fetch_add_u64(&share->kept, versions);
	pg_atomic_fetch_add_u64(&share->read, 1);
}

void
gpusort_heap_share_show(GpuSortHeapShare *share)
{
	gpusort_heap_show_read((BlockNumber) pg_atomic_read_u64(&share->read),
						   (double) pg_atomic_read_u64(&share->kept));
}

void
gpusort_heap_share_stop(GpuSortHeapShare *share)
{
	pg_atomic_write_u32(&share->stopped, 1);
}

void
gpusort_heap_share_add(GpuSortHeapShare *share, const GpuSortHeapFindings *findings)
{
	GpuSortHeapFindings *all = &share->findings;

	SpinLockAcquire(&share->mutex);
	all->counts.kept += findings->counts.kept;
	all->counts.removed += findings->counts.removed;
	all->counts.recently_dead += findings->counts.recently_dead;
	all->chains |= findings->chains;
	all->toasted += findings->toasted;
	all->bytes += findings->bytes;
	if (all->shortest == 0 || (findings->shortest != 0 && findings->shortest < all->shortest))
		all->shortest = findings->shortest;
	all->longest = Max(all->longest, findings->longest);
	SpinLockRelease(&share->mutex);
}

bool
gpusort_heap_share_is_complete(GpuSortHeapShare *share)
{
	return pg_atomic_read_u32(&share->stopped) == 0 &&
		pg_atomic_read_u64(&share->read) == share->nblocks;
}
