/*
 * heap_cluster.c
 *		Copying a table in the order of an index: read, sort, write; see heap_cluster.h.
 *
 * What the server's heapam_relation_copy_for_cluster() does, as seen from outside: the same
 * versions, counts, progress and warnings.  Until the first page is written nothing has
 * happened that it could not do again.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "elapsed.h"
#include "heap/heap_chains.h"
#include "heap/heap_cluster.h"
#include "heap/heap_eligible.h"
#include "heap/heap_keys.h"
#include "heap/heap_progress.h"
#include "heap/heap_reader.h"
#include "heap/heap_writer.h"
#include "prefetch.h"
#include "sort/sort_fetch.h"
#include "sort/sort_limits.h"
#include "sort/sort_note.h"
#include "sort/sort_view.h"

/* Versions written at a time, while as many are being prefetched. */
#define WRITE_BLOCK		32

GpuSortClusterCounters gpusort_cluster_counters;

/* How long the phases of a copy took. */
typedef struct CopyTimes
{
	instr_time	read;
	instr_time	sort;
	instr_time	write;
} CopyTimes;

/* Where versions in order go: one of the two. */
typedef struct Target
{
	GpuSortHeapWriter *writer;
	GpuSortHeapChains *chains;
	bool		keyed;			/* versions come with keys */
	uint64		written;
} Target;

static void
begin_target(Target *target, const GpuSortHeapCopy *copy, bool chains)
{
	*target = (Target) {.keyed = gpusort_heap_has_keys(copy->index)};
	if (chains)
		target->chains = gpusort_heap_chains_begin(copy);
	else
		target->writer = gpusort_heap_writer_begin(copy->new_heap);
}

/* Get the pointers of a block of versions, and prefetch where those begin and end. */
static int
load_block(const GpuSortView *view, uint64 from, void **versions)
{
	int			count = (int) Min(view->nrows - from, WRITE_BLOCK);

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

static void
put_block(Target *target, void **versions, int count)
{
	if (target->keyed)
		for (int i = 0; i < count; i++)
			versions[i] = gpusort_heap_keyed_version(versions[i]);
	if (target->chains != NULL)
		for (int i = 0; i < count; i++)
			gpusort_heap_chains_put(target->chains, versions[i]);
	else
		for (int i = 0; i < count; i++)
			gpusort_heap_writer_put(target->writer, versions[i]);
	target->written += count;
	gpusort_heap_show_written(target->written);
}

static void
put_view(Target *target, const GpuSortView *view)
{
	void	   *blocks[2][WRITE_BLOCK];
	uint64		from = 0;
	int			count = load_block(view, from, blocks[0]);

	for (int which = 0; count > 0; which ^= 1)
	{
		int			next = load_block(view, from + count, blocks[which ^ 1]);

		CHECK_FOR_INTERRUPTS();
		put_block(target, blocks[which], count);
		from += count;
		count = next;
	}
}

static void
write_versions(const GpuSortHeapCopy *copy, GpuSort *sort, bool chains)
{
	uint64		from;
	uint64		to;
	Target		target;
	GpuSortView view;

	gpusort_heap_show_writing();
	begin_target(&target, copy, chains);
	if (gpusort_is_in_memory(sort))
	{
		gpusort_view(sort, &view);
		put_view(&target, &view);
	}
	else
		for (uint64 position = 0; position < gpusort_rows(sort); position = to)
		{
			gpusort_fetch_window(sort, position, &from, &to);
			gpusort_view(sort, &view);
			put_view(&target, &view);
		}
	if (chains)
		gpusort_heap_chains_finish(target.chains);
	else
		gpusort_heap_writer_finish(target.writer);
}

static const char *
give_up_reason(const GpuSort *sort)
{
	switch (gpusort_get_stats(sort)->handover)
	{
		case GPUSORT_HANDOVER_VALUE:
			return "value without encoding";
		case GPUSORT_HANDOVER_ORDER:
			return "order not confirmed";
		default:
			return "memory limit reached";
	}
}

static void
log_copy(const GpuSortHeapCopy *copy, const GpuSort *sort, const CopyTimes *times, bool chains)
{
	const GpuSortStats *stats = gpusort_get_stats(sort);

	ereport(DEBUG1,
			(errmsg_internal("gpusort: clustered table \"%s\": " UINT64_FORMAT " row versions%s, read %.1f ms, sort %.1f ms, write %.1f ms%s",
							 RelationGetRelationName(copy->old_heap), gpusort_rows(sort),
							 chains ? " in chains" : "",
							 INSTR_TIME_GET_MILLISEC(times->read),
							 INSTR_TIME_GET_MILLISEC(times->sort),
							 INSTR_TIME_GET_MILLISEC(times->write),
							 stats->runs > 0 ? psprintf(", %u runs, %u portions", stats->runs,
														stats->portions) : "")));
}

/* Read and sort, and write; false, and *reason, if nothing was written. */
static bool
copy_sorted(const GpuSortHeapCopy *copy, GpuSort *sort, GpuSortHeapCounts *counts,
			const char **reason)
{
	GpuSortHeapReader *reader = gpusort_heap_reader_begin(copy, sort);
	bool		chains;
	bool		read;
	CopyTimes	times = {0};
	instr_time	start;

	INSTR_TIME_SET_CURRENT(start);
	read = gpusort_heap_reader_read(reader);
	chains = gpusort_heap_reader_met_chains(reader);
	*counts = *gpusort_heap_reader_counts(reader);
	gpusort_heap_reader_end(reader);
	times.read = gpusort_elapsed(start);

	if (read)
	{
		INSTR_TIME_SET_CURRENT(start);
		gpusort_heap_show_sorting();
		gpusort_perform(sort);
		times.sort = gpusort_elapsed(start);
	}
	if (gpusort_get_stats(sort)->handover != GPUSORT_HANDOVER_NONE)
	{
		*reason = give_up_reason(sort);
		gpusort_note_sort(sort, times.read, times.write);
		return false;
	}

	INSTR_TIME_SET_CURRENT(start);
	write_versions(copy, sort, chains);
	times.write = gpusort_elapsed(start);
	log_copy(copy, sort, &times, chains);
	gpusort_note_sort(sort, times.read, times.write);
	return true;
}

/* The same, in the current context. */
static bool
begin_copy(const GpuSortHeapCopy *copy, GpuSortHeapCounts *counts, const char **reason)
{
	size_t		limit_bytes = (size_t) maintenance_work_mem * 1024;
	GpuSortSpec spec;
	TupleDesc	desc;
	GpuSort    *sort;
	bool		copied;

	if (!copy->sort)
		*reason = "read through the index";
	if (!copy->sort || !gpusort_heap_is_eligible(copy->old_heap, copy->index, limit_bytes, &spec, reason))
	{
		gpusort_cluster_counters.left++;
		return false;
	}
	/* slots keep no count of references to a copy */
	desc = gpusort_heap_has_keys(copy->index) ?
		gpusort_heap_keys_desc(copy->old_heap, copy->index) :
		CreateTupleDescCopy(RelationGetDescr(copy->old_heap));
	sort = gpusort_begin_optional(desc, &spec, gpusort_possible_bytes(limit_bytes));
	*reason = "no address space";
	copied = sort != NULL && copy_sorted(copy, sort, counts, reason);
	if (sort != NULL)
		gpusort_end(sort);
	if (copied)
		gpusort_cluster_counters.sorted++;
	else
		gpusort_cluster_counters.given_up++;
	return copied;
}

bool
gpusort_cluster(const GpuSortHeapCopy *copy, GpuSortHeapCounts *counts)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "gpusort cluster",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	const char *reason = NULL;
	bool		copied = begin_copy(copy, counts, &reason);

	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	if (copied)
		return true;
	ereport(DEBUG1,
			(errmsg_internal("gpusort: left clustering table \"%s\" to PostgreSQL: %s",
							 RelationGetRelationName(copy->old_heap), reason)));
	gpusort_heap_show_nothing();
	return false;
}
