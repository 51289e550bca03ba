/*
 * heap_target.c
 *		Writes sorted versions either into pages of a new table or through the server's rewrite
 *		of tables; see heap_target.h.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "heap/heap_keys.h"
#include "heap/heap_progress.h"
#include "heap/heap_target.h"
#include "prefetch.h"

/* Number of versions that are written at a time, while as many are being prefetched. */
#define PUT_BLOCK		32

/*
 * Get pointers to the next versions, at most PUT_BLOCK, and prefetch the first and last cache line
 * of each.  Returns their number.
 */
static int
load_block(const GpuSortView *view, uint64 from, uint64 to, void **versions)
{
	int			count = (int) Min(to - from, PUT_BLOCK);

	if (count == 0)
		return 0;
	gpusort_view_fetch(view, from, count, versions);
	for (int i = 0; i < count; i++)
	{
		prefetch_line(versions[i]);
		prefetch_line((char *) versions[i] + view->row_bytes - 1);
	}
	return count;
}

/* Write versions as tuples into pages.  Returns false if one of them was refused. */
static bool
write_block(GpuSortHeapTarget *target, void **versions, int count)
{
	GpuSortHeapWriter *writer = target->writer;

	for (int i = 0; i < count; i++)
	{
		if (likely(gpusort_heap_writer_put(writer, versions[i])))
			continue;
		if (!target->may_toast)
			return false;
		gpusort_heap_writer_put_toasted(writer, versions[i]);
	}
	if (!target->in_slices)
		gpusort_heap_writer_advance(writer);
	return true;
}

static void
count_written(GpuSortHeapTarget *target, int count)
{
	uint64		all = target->written += count;

	if (target->all_written != NULL)
		all = pg_atomic_add_fetch_u64(target->all_written, count);
	if (target->shows)
		gpusort_heap_show_written((double) all);
}

static bool
put_block(GpuSortHeapTarget *target, void **versions, int count)
{
	if (target->keyed)
		for (int i = 0; i < count; i++)
			versions[i] = gpusort_heap_keyed_version(versions[i]);
	if (target->chains != NULL)
		for (int i = 0; i < count; i++)
			gpusort_heap_chains_put(target->chains, versions[i]);
	else if (!write_block(target, versions, count))
		return false;
	count_written(target, count);
	return true;
}

bool
gpusort_heap_target_put(GpuSortHeapTarget *target, const GpuSortView *view, uint64 from, uint64 to)
{
	void	   *blocks[2][PUT_BLOCK];
	int			count = load_block(view, from, to, blocks[0]);

	for (int which = 0; count > 0; which ^= 1)
	{
		int			next = load_block(view, from + count, to, blocks[which ^ 1]);

		CHECK_FOR_INTERRUPTS();
		if (!put_block(target, blocks[which], count))
			return false;
		from += count;
		count = next;
	}
	return true;
}
