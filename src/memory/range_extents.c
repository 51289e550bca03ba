/*
 * range_extents.c
 *		Extents of the pool, side by side in a range.
 *
 * An extent is taken first, which costs one atomic operation, and mapped into the
 * range when its memory is needed.  When a range gives its extents back they stay
 * mapped, and it takes the very same ones next time if they are free: a session
 * that sorts alone maps nothing from its second sort on.  Memory of extents that
 * it does not own it never touches.
 *
 * Memory.  What costs is not the sort but touching memory for the first time
 * (measured on Linux 6.18 with transparent huge pages for shared memory off,
 * seconds a GiB):
 *
 *	fresh, 4 kB pages, by MADV_POPULATE_WRITE						0.55 - 2.3
 *	the same, then MADV_COLLAPSE									1.4
 *	fresh: one page of the extent, then MADV_COLLAPSE				0.07 - 0.16
 *	mapped before by another process: by page faults				0.54
 *	... by MADV_POPULATE_WRITE										0.17
 *	... a huge page													0.001
 *
 * So the first process ever to use an extent makes a huge page of it before there
 * is anything to copy; reading rows in sorted order is faster from huge pages, too.
 * Where that can't be (older kernels, no free huge page) the extent is populated in
 * small pages, and only as far as it is used.
 *
 * Memory that the system does not have must not be found out by touching it, which
 * would be SIGBUS: everything up to range->usable was populated by a system call,
 * whose failure means that there is no extent.
 */
#include "postgres.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "memory/pool.h"
#include "memory/range_extents.h"

/* asm-generic/mman-common.h, which may be older than the kernel */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

#define NO_EXTENT		PG_UINT32_MAX
#define EXTENT_BYTES	((size_t) GSD_EXTENT_BYTES)

/* What this kernel does not know, found out by trying. */
static bool can_collapse = true;
static bool can_populate = true;

/* Make room for so many extents in the arrays. */
static bool
enlarge_arrays(GpuSortRange *range, uint32 count)
{
	uint32		size = Max(range->extents_size * 2, 16);
	uint32	   *array;

	if (count <= range->extents_size)
		return true;
	size = Max(size, count);
	array = realloc(range->owned, size * sizeof(uint32));
	if (array == NULL)
		return false;
	range->owned = array;
	array = realloc(range->mapped, size * sizeof(uint32));
	if (array == NULL)
		return false;
	range->mapped = array;
	range->extents_size = size;
	return true;
}

/* Take one more extent: the one that is mapped in its place, or another. */
static bool
take_next(GpuSortRange *range)
{
	gsd_header *header = gpusort_pool->header;
	uint32		i = range->nowned;
	uint32		owner = range->account->owner;

	if (i < range->nmapped && gsd_take_extent(header, range->mapped[i], owner))
		range->owned[i] = range->mapped[i];
	else if (!gsd_take_any(header, owner, &range->owned[i]))
		return false;
	range->nowned++;
	pg_atomic_fetch_add_u32(range->account->extents, 1);
	return true;
}

void
gpusort_extents_take(GpuSortRange *range, size_t bytes)
{
	uint32		count = (uint32) ((bytes + EXTENT_BYTES - 1) / EXTENT_BYTES);
	uint32		claimed;

	if (count <= range->nowned || !enlarge_arrays(range, count))
		return;
	claimed = gpusort_pool_claim(range->account, count - range->nowned);
	gpusort_pool_register_exit();

	/* other processes may take some for the same account */
	while (claimed-- > 0 &&
		   pg_atomic_read_u32(range->account->extents) < range->account->max_extents)
		if (!take_next(range))
			break;
}

/*
 * Map the owned extents [from, to), neighbours in the pool with one call.  Returns
 * how far that went.
 */
static uint32
map_extents(GpuSortRange *range, uint32 from, uint32 to)
{
	uint32		i = from;

	while (i < to)
	{
		uint32		first = range->owned[i];
		uint32		count = 1;

		if (i < range->nmapped && range->mapped[i] == first)
		{
			i++;
			continue;
		}
		while (i + count < to && range->owned[i + count] == first + count)
			count++;
		if (mmap(range->base + i * EXTENT_BYTES, count * EXTENT_BYTES, PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_FIXED, gpusort_pool->fd,
				 gsd_extent_offset(gpusort_pool, first)) == MAP_FAILED)
			return i;
		memcpy(range->mapped + i, range->owned + i, count * sizeof(uint32));
		i += count;
		range->nmapped = Max(range->nmapped, i);
	}
	return to;
}

/* Have memory behind [start, start + bytes) of an extent that is mapped there. */
static bool
populate(uint32 extent, char *start, size_t bytes)
{
	size_t		skip = (uintptr_t) start % EXTENT_BYTES;

	if (can_populate)
	{
		if (madvise(start, bytes, MADV_POPULATE_WRITE) == 0)
			return true;
		if (errno != EINVAL)
			return false;
		can_populate = false;
	}
	return fallocate(gpusort_pool->fd, 0, gsd_extent_offset(gpusort_pool, extent) + skip, bytes) == 0;
}

/* Make one huge page of an extent; false if the system does not. */
static bool
make_huge(uint32 extent, char *start)
{
	/* an extent without any page is not collapsed */
	if (!can_collapse || !populate(extent, start, 1))
		return false;
	if (madvise(start, EXTENT_BYTES, MADV_COLLAPSE) == 0)
		return true;
	if (errno == EINVAL)
		can_collapse = false;
	return false;
}

/*
 * Have memory behind the bytes of the range's extent i up to `to`, of which those
 * below `from` have it already.
 */
static bool
populate_extent(GpuSortRange *range, uint32 i, size_t from, size_t to)
{
	uint32		extent = range->owned[i];
	_Atomic uint8_t *state = gsd_extent_state_of(gpusort_pool->header, extent);
	char	   *start = range->base + i * EXTENT_BYTES;
	size_t		end = (i + 1) * EXTENT_BYTES;

	if (atomic_load_explicit(state, memory_order_relaxed) != GSD_EXTENT_FRESH)
		return populate(extent, start, EXTENT_BYTES);
	if (!gpusort_pool->header->huge && make_huge(extent, start))
	{
		atomic_store_explicit(state, GSD_EXTENT_HUGE, memory_order_relaxed);
		return true;
	}
	from = Max(from, i * EXTENT_BYTES);
	if (!populate(extent, range->base + from, Min(to, end) - from))
		return false;
	if (to >= end)
		atomic_store_explicit(state, GSD_EXTENT_POPULATED, memory_order_relaxed);
	return true;
}

/* Is the owned extent i still mapped in its place, with memory behind it? */
static bool
is_ready(GpuSortRange *range, uint32 i)
{
	_Atomic uint8_t *state = gsd_extent_state_of(gpusort_pool->header, range->owned[i]);

	return i < range->nmapped && range->mapped[i] == range->owned[i] &&
		atomic_load_explicit(state, memory_order_relaxed) != GSD_EXTENT_FRESH;
}

size_t
gpusort_extents_populate(GpuSortRange *range, size_t to)
{
	uint32		first = range->usable / EXTENT_BYTES;
	uint32		end = (Min(to, range->nowned * EXTENT_BYTES) + EXTENT_BYTES - 1) / EXTENT_BYTES;
	uint32		done;

	while (first < end && is_ready(range, first))
		first++;
	done = map_extents(range, first, end);
	for (uint32 i = first; i < done; i++)
		if (!populate_extent(range, i, range->usable, to))
			done = i;
	if (done < end)
	{
		gpusort_extents_give(range, done, range->nowned);
		range->nowned = done;
	}
	if (done == 0 || is_ready(range, done - 1))
		to = done * EXTENT_BYTES;
	return Max(range->usable, Min(to, done * EXTENT_BYTES));
}

size_t
gpusort_range_fresh_bytes(const GpuSortRange *range)
{
	uint32		count = 0;

	for (uint32 i = range->usable / EXTENT_BYTES; i < range->nowned; i++)
		if (range->owned[i] != NO_EXTENT &&
			atomic_load_explicit(gsd_extent_state_of(gpusort_pool->header, range->owned[i]),
								 memory_order_relaxed) == GSD_EXTENT_FRESH)
			count++;
	return count * EXTENT_BYTES;
}

void
gpusort_extents_give(GpuSortRange *range, uint32 from, uint32 to)
{
	uint32		owner = range->account->owner;

	for (uint32 i = from; i < to; i++)
	{
		if (range->owned[i] == NO_EXTENT)
			continue;
		if (range->left_to > 0)
			gsd_leave_extent(gpusort_pool->header, range->owned[i], owner, range->left_to - 1);
		else
			gsd_give_extent(gpusort_pool->header, range->owned[i], owner);
		range->owned[i] = NO_EXTENT;
		pg_atomic_fetch_sub_u32(range->account->extents, 1);
	}
	gpusort_pool_forget_want(range->account);
}

void
gpusort_range_yield(GpuSortRange *range, uint32 count, uint32 *list)
{
	Assert(count <= range->nowned);
	gpusort_extents_give(range, count, range->nowned);
	if (count == 0)
		return;
	memcpy(list, range->owned, count * sizeof(uint32));
	memset(range->owned, 0xff, count * sizeof(uint32)); /* NO_EXTENT */
}

bool
gpusort_range_adopt(GpuSortRange *range, const uint32 *list, uint32 count)
{
	Assert(range->nowned == 0 && range->usable == 0);
	if (count * EXTENT_BYTES > range->reserved || !enlarge_arrays(range, count))
		return false;
	if (count > 0)
		memcpy(range->owned, list, count * sizeof(uint32));
	range->nowned = count;
	return true;
}
