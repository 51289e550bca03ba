/*
 * heap_slices.c
 *		Writes a new table by several processes, each of which writes slices of the sorted
 *		versions; see heap_slices.h.
 *
 * If all versions have one length, slices end where pages do, and the table is the one that a
 * single process would write.  Otherwise half a page at the end of each slice stays empty, on
 * average.
 *
 * Only the leader can use the toaster, so slices with versions that need it are left to the leader.
 */
#include "postgres.h"

#include "access/heaptoast.h"
#include "access/parallel.h"

#include "heap/heap_keys.h"
#include "heap/heap_page.h"
#include "heap/heap_slices.h"
#include "heap/heap_target.h"
#include "settings.h"
#include "worker_fault.h"

/* Number of pages of a slice.  The half page lost at its end is a quarter of a percent. */
#define SLICE_PAGES		200

/*
 * A slice of only the longest versions may have at most so many times the bytes of an average
 * slice.
 */
#define MAX_UNEVEN		16

/* At most this fraction of the slices may have a version that needs the toaster. */
#define MAX_TOASTED		(1.0 / 8)

/* The state of a process that writes slices. */
typedef struct Process
{
	GpuSortHeapSlices *slices;
	const GpuSortView *view;
	GpuSortHeapTarget own;
	GpuSortHeapTarget left;		/* in the leader, for slices that workers have left to it */
} Process;

/* ---------- cutting ---------- */

/* Returns how many versions of `bytes` bytes fit on a page. */
static uint64
versions_of_page(const GpuSortHeapCopy *copy, uint32 bytes)
{
	Size		save_bytes = RelationGetTargetPageFreeSpace(copy->new_heap,
														HEAP_DEFAULT_FILLFACTOR);
	PGAlignedBlock block;
	GpuSortHeapPage page;

	gpusort_heap_page_begin(&page, block.data, InvalidTransactionId);
	do
		(void) gpusort_heap_page_append(&page, bytes);
	while (bytes + save_bytes <= gpusort_heap_page_space(&page));
	return page.nitems;
}

/*
 * Returns how many versions of different lengths fit on so many pages, on average.  All pages of a
 * slice are in memory at once, so the number is smaller if some versions are far longer than the
 * others, as they may lie together.
 */
static uint64
versions_of_pages(const GpuSortHeapCopy *copy, const GpuSortHeapFindings *findings, uint64 pages)
{
	Size		page_bytes = RelationGetTargetPageUsage(copy->new_heap, HEAP_DEFAULT_FILLFACTOR) -
		SizeOfPageHeaderData;
	double		average = findings->bytes / findings->counts.kept;
	double		longest = Min(findings->longest, TOAST_TUPLE_THRESHOLD);
	double		bytes = Max(average, longest / MAX_UNEVEN) + sizeof(ItemIdData);

	return Max((uint64) (pages * page_bytes / bytes), 1);
}

bool
gpusort_heap_slices_init(GpuSortHeapSlices *slices, const GpuSortHeapCopy *copy,
						 const GpuSortView *view, const GpuSortHeapFindings *findings)
{
	uint64		pages = Min(SLICE_PAGES, gpusort_slice_pages);

	memset(slices, 0, sizeof(*slices));
	slices->rows = view->nrows;
	slices->keyed = gpusort_heap_has_keys(copy->index);
	slices->step = findings->shortest == findings->longest && findings->toasted == 0
		? versions_of_page(copy, Max(findings->longest, 1)) * pages
		: versions_of_pages(copy, findings, pages);
	gpusort_turns_init(&slices->turns);
	pg_atomic_init_u64(&slices->written, 0);
	return gpusort_heap_slice_count(slices) > 1 &&
		findings->toasted <= gpusort_heap_slice_count(slices) * MAX_TOASTED;
}

/* ---------- writing ---------- */

/*
 * Form the pages of a slice.  Returns false if a version needs the toaster and this process can't
 * use it.
 */
static bool
fill_pages(const Process *process, GpuSortHeapTarget *target, uint64 slice)
{
	uint64		from = slice * process->slices->step;
	uint64		to = Min(from + process->slices->step, process->slices->rows);

	return gpusort_heap_target_put(target, process->view, from, to);
}

/*
 * Make the slice's pages the next blocks of the table, since it is the slice's turn; pass the turn
 * on, and write the pages.
 */
static void
place_pages(const Process *process, GpuSortHeapTarget *target, uint64 slice)
{
	gpusort_heap_writer_claim(target->writer);
	gpusort_turns_pass(&process->slices->turns, slice);
	gpusort_heap_writer_write(target->writer);
}

/*
 * Wait until it is the slice's turn.  Meanwhile the leader does slices that workers have left to
 * it.
 */
static void
await_turn(Process *process, uint64 slice)
{
	uint64		left;

	while (!gpusort_turns_await(&process->slices->turns, slice, &left))
	{
		(void) fill_pages(process, &process->left, left);
		place_pages(process, &process->left, left);
	}
}

/*
 * Form the pages of a slice, and write them in the slice's turn.  A worker that can't form them
 * leaves the slice to the leader.
 */
static void
put_slice(Process *process, uint64 slice)
{
	uint64		before = process->own.written;
	bool		filled;

	gpusort_worker_fault("a slice of a table");
	filled = fill_pages(process, &process->own, slice);
	if (!filled)
	{
		gpusort_heap_writer_drop(process->own.writer);
		pg_atomic_fetch_sub_u64(&process->slices->written, process->own.written - before);
	}
	await_turn(process, slice);
	if (filled)
		place_pages(process, &process->own, slice);
	else
		gpusort_turns_leave(&process->slices->turns, slice);
}

static void
begin_target(const Process *process, GpuSortHeapTarget *target, Relation new_heap,
			 GpuSortStorage *storage)
{
	*target = (GpuSortHeapTarget) {
		.writer = gpusort_heap_writer_begin(new_heap, storage),
		.keyed = process->slices->keyed,
		.in_slices = true,
		.may_toast = !IsParallelWorker(),
		.shows = !IsParallelWorker(),
		.all_written = &process->slices->written
	};
}

void
gpusort_heap_slices_put(GpuSortHeapSlices *slices, Relation new_heap, GpuSortStorage *storage,
						const GpuSortView *view)
{
	Process		process = {.slices = slices,.view = view};
	uint64		count = gpusort_heap_slice_count(slices);
	uint64		slice;

	gpusort_storage_share(storage, &slices->file);
	begin_target(&process, &process.own, new_heap, storage);
	if (!IsParallelWorker())
		begin_target(&process, &process.left, new_heap, storage);
	while ((slice = gpusort_turns_take(&slices->turns)) < count)
		put_slice(&process, slice);
	if (!IsParallelWorker())
		await_turn(&process, count);
	gpusort_storage_flush(storage);
}
