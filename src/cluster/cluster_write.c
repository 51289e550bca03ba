/*
 * cluster_write.c
 *		Writes sorted versions into a new table, by one process or several; see
 *		cluster_write_private.h.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/heaptoast.h"
#include "access/htup_details.h"
#include "access/parallel.h"
#include "access/rewriteheap.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "cluster/cluster_copy_private.h"
#include "cluster/cluster_version_private.h"
#include "cluster/cluster_write_private.h"
#include "prefetch.h"
#include "settings.h"
#include "table/table.h"
#include "team/turns.h"
#include "team/workers.h"

/* ---------- into pages ---------- */

/*
 * This follows the rules of the server's rewrite_heap_tuple(), in which tuples that are long or
 * have values out of line go through the toaster.
 */

GpuSortTableSink *
gpusort_cluster_begin_sink(Relation heap, GpuSortStorage *storage)
{
	return gpusort_table_sink_new(heap, storage, NULL,
								  HEAP_INSERT_SKIP_FSM | HEAP_INSERT_NO_LOGICAL);
}

/*
 * Put the next version (cluster_version_private.h), which no chain of updates leads to or from.
 * Returns false if the version needs the toaster and must not use it.
 */
static bool
put_version(GpuSortTableTail *tail, MinimalTuple version, bool may_toast)
{
	uint32		length = gpusort_version_length(version);

	if (likely(!gpusort_table_needs_toaster(version->t_infomask, length)))
	{
		gpusort_version_unpack(version, length, (char *) gpusort_table_room(tail, length));
		return true;
	}
	if (!may_toast)
		return false;
	gpusort_version_unpack(version, length, (char *) gpusort_table_toaster_room(tail, length));
	gpusort_table_toast(tail);
	return true;
}

/* ---------- chains of updates ---------- */

/*
 * The server's own rewrite_heap_tuple() writes them, since it knows how to make t_ctid lead to
 * where a version's successor has gone.  There are such versions only while some transaction is
 * older than an update.
 */

struct GpuSortClusterChains
{
	RewriteState state;
	Oid			table;
	MemoryContext context;		/* reset for each version */
};

GpuSortClusterChains *
gpusort_cluster_chains_begin(const GpuSortClusterCopy *copy)
{
	GpuSortClusterChains *chains = palloc0(sizeof(GpuSortClusterChains));

	chains->state = begin_heap_rewrite(copy->old_heap, copy->new_heap, copy->oldest_xmin,
									   copy->freeze_xid, copy->freeze_multi);
	chains->table = RelationGetRelid(copy->old_heap);
	chains->context = AllocSetContextCreate(CurrentMemoryContext, "gpusort heap chains",
											ALLOCSET_DEFAULT_SIZES);
	return chains;
}

/*
 * Get the TIDs of a version.  If none were kept, the version is in no chain, so any TID will do, as
 * long as t_ctid is the same.
 */
static void
find_tids(MinimalTuple version, GpuSortVersionTids *tids)
{
	if (gpusort_version_has_tids(version))
		gpusort_version_tids(version, tids);
	else
	{
		ItemPointerSet(&tids->self, 0, FirstOffsetNumber);
		tids->ctid = tids->self;
	}
}

/* Put the next version, in the order in which they are to be written. */
static void
gpusort_cluster_chains_put(GpuSortClusterChains *chains, MinimalTuple version)
{
	MemoryContext old = MemoryContextSwitchTo(chains->context);
	uint32		length = gpusort_version_length(version);
	HeapTupleData before = {.t_len = length,.t_tableOid = chains->table};
	GpuSortVersionTids tids;

	find_tids(version, &tids);
	before.t_data = palloc(length);
	gpusort_version_unpack(version, length, (char *) before.t_data);
	before.t_self = tids.self;
	before.t_data->t_ctid = tids.ctid;
	rewrite_heap_tuple(chains->state, &before, heap_copytuple(&before));
	MemoryContextSwitchTo(old);
	MemoryContextReset(chains->context);
}

void
gpusort_cluster_chains_finish(GpuSortClusterChains *chains)
{
	end_heap_rewrite(chains->state);
}

/* ---------- where versions go ---------- */

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
write_block(GpuSortClusterTarget *target, void **versions, int count)
{
	GpuSortTableTail *tail = gpusort_table_sink_tail(target->sink);

	for (int i = 0; i < count; i++)
	{
		if (!put_version(tail, versions[i], target->may_toast))
			return false;
	}
	if (!target->in_slices)
		gpusort_table_sink_advance(target->sink);
	return true;
}

static void
count_written(GpuSortClusterTarget *target, int count)
{
	uint64		all = target->written += count;

	if (target->all_written != NULL)
		all = pg_atomic_add_fetch_u64(target->all_written, count);
	if (target->shows)
		gpusort_cluster_show_written((double) all);
}

static bool
put_block(GpuSortClusterTarget *target, void **versions, int count)
{
	if (target->keyed)
		for (int i = 0; i < count; i++)
			versions[i] = gpusort_cluster_keyed_version(versions[i]);
	if (target->chains != NULL)
		for (int i = 0; i < count; i++)
			gpusort_cluster_chains_put(target->chains, versions[i]);
	else if (!write_block(target, versions, count))
		return false;
	count_written(target, count);
	return true;
}

bool
gpusort_cluster_target_put(GpuSortClusterTarget *target, const GpuSortView *view, uint64 from,
						   uint64 to)
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

/* ---------- slices ---------- */

/*
 * If all versions have one length, slices end where pages do, and the table is the one that a
 * single process would write.  Otherwise half a page at the end of each slice stays empty, on
 * average.
 *
 * Only the leader can use the toaster, so slices with versions that need it are left to the leader.
 */

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
	GpuSortClusterSlices *slices;
	const GpuSortView *view;
	GpuSortClusterTarget own;
	GpuSortClusterTarget left;		/* in the leader, for slices that workers have left to it */
	uint64		written;		/* versions that this process had written before its own slice */
} Process;

/* ---------- cutting ---------- */

/* Returns how many versions of `bytes` bytes fit on a page. */
static uint64
versions_of_page(const GpuSortClusterCopy *copy, uint32 bytes)
{
	Size		save_bytes = RelationGetTargetPageFreeSpace(copy->new_heap,
														HEAP_DEFAULT_FILLFACTOR);
	PGAlignedBlock block;
	GpuSortTablePage page;

	gpusort_table_page_begin(&page, block.data, InvalidTransactionId);
	do
		(void) gpusort_table_page_append(&page, bytes);
	while (bytes + save_bytes <= gpusort_table_page_space(&page));
	return page.nitems;
}

/*
 * Returns how many versions of different lengths fit on so many pages, on average.  All pages of a
 * slice are in memory at once, so the number is smaller if some versions are far longer than the
 * others, as they may lie together.
 */
static uint64
versions_of_pages(const GpuSortClusterCopy *copy, const GpuSortClusterFindings *findings,
				  uint64 pages)
{
	Size		page_bytes = RelationGetTargetPageUsage(copy->new_heap, HEAP_DEFAULT_FILLFACTOR) -
		SizeOfPageHeaderData;
	double		average = findings->bytes / findings->counts.kept;
	double		longest = Min(findings->longest, TOAST_TUPLE_THRESHOLD);
	double		bytes = Max(average, longest / MAX_UNEVEN) + sizeof(ItemIdData);

	return Max((uint64) (pages * page_bytes / bytes), 1);
}

bool
gpusort_cluster_slices_init(GpuSortClusterSlices *slices, const GpuSortClusterCopy *copy,
							const GpuSortView *view, const GpuSortClusterFindings *findings)
{
	uint64		pages = Min(SLICE_PAGES, gpusort_slice_pages);

	memset(slices, 0, sizeof(*slices));
	slices->rows = view->nrows;
	slices->keyed = gpusort_cluster_has_keys(copy->index);
	slices->step = findings->shortest == findings->longest && findings->toasted == 0
		? versions_of_page(copy, Max(findings->longest, 1)) * pages
		: versions_of_pages(copy, findings, pages);
	gpusort_turns_init(&slices->turns, gpusort_cluster_slice_count(slices));
	pg_atomic_init_u64(&slices->written, 0);
	return gpusort_cluster_slice_count(slices) > 1 &&
		   findings->toasted <= gpusort_cluster_slice_count(slices) * MAX_TOASTED;
}

/* ---------- writing ---------- */

/* The functions of a GpuSortSliceDoer, whose argument is a Process. */

/*
 * Form the pages of a slice.  Returns false if a version needs the toaster and this process can't
 * use it.
 */
static bool
make_slice(void *arg, uint64 slice, bool left)
{
	Process    *process = arg;
	GpuSortClusterTarget *target = left ? &process->left : &process->own;
	uint64		from = slice * process->slices->step;
	uint64		to = Min(from + process->slices->step, process->slices->rows);

	if (!left)
	{
		gpusort_worker_fault("a slice of a table");
		process->written = target->written;
	}
	return gpusort_cluster_target_put(target, process->view, from, to);
}

static void
forget_slice(void *arg)
{
	Process    *process = arg;
	GpuSortClusterTarget *target = &process->own;

	gpusort_table_sink_forget(target->sink);
	pg_atomic_fetch_sub_u64(&process->slices->written, target->written - process->written);
}

/* Make the slice's pages the next blocks of the table. */
static void
place_slice(void *arg, bool left)
{
	Process    *process = arg;

	gpusort_table_sink_place(left ? process->left.sink : process->own.sink, false, false);
}

/* Write the pages. */
static void
finish_slice(void *arg, bool left)
{
	Process    *process = arg;

	gpusort_table_sink_write(left ? process->left.sink : process->own.sink, false, false);
}

static void
begin_target(const Process *process, GpuSortClusterTarget *target, Relation new_heap,
			 GpuSortStorage *storage)
{
	*target = (GpuSortClusterTarget) {
		.sink = gpusort_cluster_begin_sink(new_heap, storage),
		.keyed = process->slices->keyed,
		.in_slices = true,
		.may_toast = !IsParallelWorker(),
		.shows = !IsParallelWorker(),
		.all_written = &process->slices->written
	};
}

void
gpusort_cluster_slices_put(GpuSortClusterSlices *slices, Relation new_heap, GpuSortStorage *storage,
						   const GpuSortView *view)
{
	Process		process = {.slices = slices,.view = view};
	GpuSortSliceDoer doer = {
		.turns = &slices->turns, .arg = &process,
		.make = make_slice, .place = place_slice, .finish = finish_slice, .forget = forget_slice
	};

	gpusort_storage_share(storage, &slices->file);
	begin_target(&process, &process.own, new_heap, storage);
	if (!IsParallelWorker())
		begin_target(&process, &process.left, new_heap, storage);
	gpusort_turns_do_slices(&doer);
	gpusort_storage_flush(storage);
}
