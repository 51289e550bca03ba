/*
 * cluster.c
 *		Copies a table in the order of an index: reads, sorts, writes; see cluster_copy_private.h.
 *
 * Seen from outside, this does what the server's heapam_relation_copy_for_cluster() does: the
 * versions, counts, progress and warnings are the same.  Until the first page is written, nothing
 * has happened that the server's function could not do again.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "utils/memutils.h"

#include "cluster/cluster.h"
#include "cluster/cluster_copy_private.h"
#include "cluster/cluster_version_private.h"
#include "cluster/cluster_write_private.h"
#include "elapsed.h"
#include "sort/sort.h"
#include "sort/sort_result.h"
#include "sort/sort_view.h"

GpuSortClusterCounters gpusort_cluster_counters;

/* How long the phases of a copy took. */
typedef struct CopyTimes
{
	instr_time	read;
	instr_time	sort;
	instr_time	write;
} CopyTimes;

/* How a table is copied, and what came of it so far. */
typedef struct Conduct
{
	const GpuSortClusterCopy *copy;
	TupleDesc	desc;			/* descriptor of the sort's rows */
	GpuSort    *sort;
	int			workers;		/* number of workers wanted */
	GpuSortClusterReaders *helpers;	/* workers that have read, and help until all is sorted */
	int			readers;		/* number of workers that read and that wrote */
	int			writers;
	GpuSortClusterFindings findings;
	CopyTimes	times;
} Conduct;

/* ---------- reading ---------- */

static void
read_alone(Conduct *conduct)
{
	GpuSortClusterReader *reader =
		gpusort_cluster_reader_begin(conduct->copy, conduct->sort, false);
	GpuSortClusterShare share;

	gpusort_cluster_share_init(&share, RelationGetNumberOfBlocks(conduct->copy->old_heap));
	gpusort_cluster_reader_read(reader, &share, true);
	gpusort_cluster_reader_end(reader);
	conduct->findings = share.findings;
}

/* Begin the sort.  Returns false if there is no memory for it. */
static bool
begin_sort(Conduct *conduct, const GpuSortSpec *spec)
{
	size_t		limit_bytes = gpusort_possible_bytes((size_t) maintenance_work_mem * 1024);

	conduct->sort = gpusort_begin_optional(conduct->desc, spec, limit_bytes);
	return conduct->sort != NULL;
}

/*
 * Read the table into the sort.  If a participant could not put a version into its part, this
 * process reads the table once more, alone: it may have memory that parts can't have.  Returns
 * false if the sort could not be begun again.
 */
static bool
read_table(Conduct *conduct, const GpuSortSpec *spec)
{
	GpuSortClusterHelp help = GPUSORT_CLUSTER_NO_WORKERS;

	pgstat_count_heap_scan(conduct->copy->old_heap);
	gpusort_cluster_show_reading(RelationGetNumberOfBlocks(conduct->copy->old_heap));
	if (conduct->workers > 0)
		help = gpusort_cluster_read_with_workers(conduct->copy, conduct->sort, conduct->desc,
												 conduct->workers, &conduct->helpers,
												 &conduct->findings);
	if (help == GPUSORT_CLUSTER_DONE)
		return true;
	if (help == GPUSORT_CLUSTER_FAILED)
	{
		gpusort_end(conduct->sort);
		if (!begin_sort(conduct, spec))
			return false;
	}
	read_alone(conduct);
	return true;
}

/* ---------- writing ---------- */

/* Write all versions of the sort, one window after another if it has spilled. */
static void
put_all(GpuSortClusterTarget *target, GpuSort *sort)
{
	uint64		to;
	GpuSortView view;

	for (uint64 position = 0; position < gpusort_rows(sort); position = to)
	{
		to = gpusort_result_window(sort, position, &view);
		(void) gpusort_cluster_target_put(target, &view, 0, view.nrows);
	}
}

static void
write_alone(const Conduct *conduct)
{
	const GpuSortClusterCopy *copy = conduct->copy;
	GpuSortClusterTarget target = {
		.keyed = gpusort_cluster_has_keys(copy->index), .may_toast = true, .shows = true
	};
	GpuSortStorage *storage;

	if (conduct->findings.chains)
	{
		target.chains = gpusort_cluster_chains_begin(copy);
		put_all(&target, conduct->sort);
		gpusort_cluster_chains_finish(target.chains);
		return;
	}
	storage = gpusort_storage_begin(copy->new_heap);
	target.sink = gpusort_cluster_begin_sink(copy->new_heap, storage);
	put_all(&target, conduct->sort);
	gpusort_table_sink_place(target.sink, false, false);
	gpusort_table_sink_write(target.sink, false, false);
	gpusort_storage_finish(storage);
}

static void
write_versions(Conduct *conduct)
{
	gpusort_cluster_show_writing();
	if (conduct->workers > 0 && !conduct->findings.chains && gpusort_is_in_memory(conduct->sort) &&
		gpusort_rows(conduct->sort) > 0 &&
		gpusort_cluster_write_with_workers(conduct->copy, conduct->sort, &conduct->findings,
										   conduct->workers, &conduct->writers))
		return;
	write_alone(conduct);
}

/* ---------- conducting ---------- */

static void
log_copy(const Conduct *conduct)
{
	const GpuSortStats *stats = gpusort_get_stats(conduct->sort);
	const CopyTimes *times = &conduct->times;

	ereport(DEBUG1,
			(errmsg_internal("gpusort: clustered table \"%s\": " UINT64_FORMAT " row versions%s, read by %d workers %.1f ms, sort %.1f ms, write by %d workers %.1f ms%s",
							 RelationGetRelationName(conduct->copy->old_heap),
							 gpusort_rows(conduct->sort),
							 conduct->findings.chains ? " in chains" : "",
							 conduct->readers, INSTR_TIME_GET_MILLISEC(times->read),
							 INSTR_TIME_GET_MILLISEC(times->sort),
							 conduct->writers, INSTR_TIME_GET_MILLISEC(times->write),
							 stats->runs > 0 ? psprintf(", " UINT64_FORMAT " runs, " UINT64_FORMAT " portions", stats->runs,
														stats->portions) : "")));
}

/*
 * Read the table, sort the versions, and write the new table.  Returns false and sets *reason if
 * nothing was written.
 */
static bool
copy_sorted(Conduct *conduct, const GpuSortSpec *spec, const char **reason)
{
	CopyTimes  *times = &conduct->times;
	instr_time	start;

	INSTR_TIME_SET_CURRENT(start);
	if (!read_table(conduct, spec))
		return false;
	times->read = gpusort_elapsed(start);

	if (gpusort_get_stats(conduct->sort)->handover == GPUSORT_HANDOVER_NONE)
	{
		INSTR_TIME_SET_CURRENT(start);
		gpusort_cluster_show_sorting();
		gpusort_perform(conduct->sort);
		times->sort = gpusort_elapsed(start);
	}
	if (conduct->helpers != NULL)
		conduct->readers = gpusort_cluster_readers_end(conduct->helpers);
	conduct->helpers = NULL;
	if (gpusort_get_stats(conduct->sort)->handover != GPUSORT_HANDOVER_NONE)
	{
		*reason = gpusort_handover_reason(gpusort_get_stats(conduct->sort)->handover);
		gpusort_note_sort(conduct->sort, times->read, times->write);
		return false;
	}

	INSTR_TIME_SET_CURRENT(start);
	write_versions(conduct);
	times->write = gpusort_elapsed(start);
	log_copy(conduct);
	gpusort_note_sort(conduct->sort, times->read, times->write);
	return true;
}

/* Do the work of gpusort_cluster(), in the current memory context. */
static bool
begin_copy(const GpuSortClusterCopy *copy, GpuSortClusterCounts *counts, const char **reason)
{
	size_t		limit_bytes = (size_t) maintenance_work_mem * 1024;
	Conduct		conduct = {.copy = copy};
	GpuSortSpec spec;
	bool		copied;

	if (!copy->sort)
		*reason = "read through the index";
	if (!copy->sort ||
		!gpusort_cluster_is_eligible(copy->old_heap, copy->index, limit_bytes, &spec, reason))
	{
		gpusort_cluster_counters.left++;
		return false;
	}
	*reason = "no address space";
	conduct.desc = gpusort_cluster_sort_desc(copy->old_heap, copy->index);
	conduct.workers = gpusort_cluster_wanted_workers(copy);
	copied = begin_sort(&conduct, &spec) && copy_sorted(&conduct, &spec, reason);
	if (conduct.sort != NULL)
		gpusort_end(conduct.sort);
	*counts = conduct.findings.counts;
	if (copied)
		gpusort_cluster_counters.sorted++;
	else
		gpusort_cluster_counters.given_up++;
	return copied;
}

bool
gpusort_cluster(const GpuSortClusterCopy *copy, GpuSortClusterCounts *counts)
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
	gpusort_cluster_show_nothing();
	return false;
}
