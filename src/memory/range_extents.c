/*
 * range_extents.c
 *		Extents of the pool, side by side in a range.
 *
 * An extent is taken first, which costs one atomic operation, and mapped into the
 * range when its memory is needed.  When a range gives its extents back they stay
 * mapped, and it takes the very same ones next time if they are free: a session
 * that sorts alone maps nothing from its second sort on.  A range never touches the
 * memory of extents that it does not own.
 *
 * Everything up to range->usable has memory behind it (extent_pages.c).
 */
#include "postgres.h"

#include <sys/mman.h>

#include "memory/extents_private.h"
#include "memory/pool.h"

#define EXTENT_BYTES	((size_t) GSD_EXTENT_BYTES)

/* Makes room for `count` extents in the arrays; returns false if there is no memory. */
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

/* Takes one more extent: the one that is still mapped in its place, or another. */
static bool
take_next(GpuSortRange *range)
{
	uint32		i = range->nowned;
	uint32		preferred = i < range->nmapped ? range->mapped[i] : GPUSORT_NO_EXTENT;

	if (!gpusort_pool_take(range->account, preferred, &range->owned[i]))
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

	/* other processes may be taking extents for the same account */
	while (claimed-- > 0 &&
		   pg_atomic_read_u32(range->account->extents) < range->account->max_extents)
		if (!take_next(range))
			break;
}

/*
 * Maps the owned extents from .. to - 1, neighbours in the pool with one call.
 * Returns `to`, or the first extent that could not be mapped.
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

/*
 * Sees to it that there is memory behind the range's extent i as far as byte `to` of
 * the range; the bytes below `from` have memory already.
 */
static bool
populate_extent(GpuSortRange *range, uint32 i, size_t from, size_t to)
{
	size_t		begin = i * EXTENT_BYTES;

	return gpusort_extent_populate(range->owned[i], range->base + begin, Max(from, begin) - begin,
								   Min(to - begin, EXTENT_BYTES));
}

/* Returns whether the owned extent i is still mapped in its place, with memory behind it. */
static bool
is_ready(GpuSortRange *range, uint32 i)
{
	return i < range->nmapped && range->mapped[i] == range->owned[i] &&
		gpusort_extent_is_populated(range->owned[i]);
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
		/* the first extent may be in use, as far as it was populated before */
		uint32		used = (range->usable + EXTENT_BYTES - 1) / EXTENT_BYTES;
		uint32		kept = Max(done, used);

		gpusort_extents_give(range, kept, range->nowned);
		range->nowned = kept;
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
		if (range->owned[i] != GPUSORT_NO_EXTENT && !gpusort_extent_is_populated(range->owned[i]))
			count++;
	return count * EXTENT_BYTES;
}

void
gpusort_extents_give(GpuSortRange *range, uint32 from, uint32 to)
{
	uint32		owner = range->account->owner;

	for (uint32 i = from; i < to; i++)
	{
		if (range->owned[i] == GPUSORT_NO_EXTENT)
			continue;
		if (range->left_to > 0)
			gsd_leave_extent(gpusort_pool->header, range->owned[i], owner, range->left_to - 1);
		else
			gsd_give_extent(gpusort_pool->header, range->owned[i], owner);
		range->owned[i] = GPUSORT_NO_EXTENT;
		pg_atomic_fetch_sub_u32(range->account->extents, 1);
	}
	gpusort_pool_clear_short(range->account);
}

void
gpusort_range_yield(GpuSortRange *range, uint32 count, uint32 *list)
{
	Assert(count <= range->nowned);
	gpusort_extents_give(range, count, range->nowned);
	if (count == 0)
		return;
	if (list != NULL)
		memcpy(list, range->owned, count * sizeof(uint32));
	memset(range->owned, 0xff, count * sizeof(uint32)); /* GPUSORT_NO_EXTENT */
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
