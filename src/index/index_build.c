/*
 * index_build.c
 *		Builds a btree index: scans the table, sorts, checks uniqueness, writes.
 *
 * This is the counterpart of btbuild(), and seen from outside it does what btbuild() does: the
 * index, the counts, the progress phases and the errors are the same.  Rows that are dead, but not
 * yet to all transactions, go into the same sort as live ones and carry a mark, where btbuild() has
 * a second sort for them, so that one stream in index order comes out.
 *
 * Until the first page is written, nothing has happened that btbuild() could not do again.  So
 * every obstacle ends there: an index that we have no key encoding for, a table too small to
 * bother, memory that does not suffice, a value without an encoding. btbuild() then scans the table
 * once more.
 *
 * There is no state outside of a build, since builds nest: a function in an index expression may
 * build an index.  Everything hangs on a memory context of the build.
 */
#include "postgres.h"

#include "access/nbtree.h"
#include "commands/progress.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "utils/memutils.h"

#include "elapsed.h"
#include "index/index.h"
#include "index/index_build_private.h"
#include "index/index_read_private.h"
#include "index/index_shared_private.h"
#include "index/index_write_private.h"
#include "settings.h"
#include "sort/sort.h"
#include "sort/sort_result.h"

/* ---------- pauses: places where tests can make a build pause (gpusort.inject_fault) ---------- */

/*
 * The ends of phases where a build can pause.  A number is the second key of an advisory lock,
 * (4753, number).
 */
typedef enum GpuSortPausePlace
{
	GPUSORT_PAUSE_SCANNED = 1,
	GPUSORT_PAUSE_SORTED,
	GPUSORT_PAUSE_CHECKED,
	GPUSORT_PAUSE_WRITTEN
} GpuSortPausePlace;

/* First key of the advisory locks that inject_fault = pause waits for; the second is the place. */
#define PAUSE_LOCK_CLASS	4753

/*
 * Wait while another session holds the advisory lock of this place, so that a test can look at the
 * build.
 */
static void
gpusort_fault_pause(GpuSortPausePlace place)
{
	LOCKTAG		lock;

	if (likely(gpusort_inject_fault != GPUSORT_FAULT_PAUSE))
		return;
	/* pg_advisory_lock_shared_int4() would refuse while there are workers, so take the lock here */
	SET_LOCKTAG_ADVISORY(lock, MyDatabaseId, PAUSE_LOCK_CLASS, place, 2);
	(void) LockAcquire(&lock, ShareLock, false, false);
	LockRelease(&lock, ShareLock, false);
}

/* ---------- the build ---------- */

/* Part of the sort phase's progress that the check of uniqueness is taken for. */
#define UNIQUE_PROGRESS		0.02

GpuSortIndexCounters gpusort_index_counters;

/* How long the phases of a build took. */
typedef struct BuildTimes
{
	instr_time	scan;
	instr_time	sort;
	instr_time	write;
} BuildTimes;

/* One build, in the process that was asked for it. */
typedef struct Build
{
	GpuSortIndexReader reader;
	GpuSortIndexLeader *leader; /* NULL if there are no workers */
	int			workers;
	BlockNumber pages_read;		/* pages that had been read when the build was given up */
	/* number of slices written; 0 if this process has written the whole index */
	uint32		slices;
	BuildTimes	times;
} Build;

/* Let the workers end, if there are any. */
static void
end_workers(Build *build)
{
	if (build->leader != NULL)
		gpusort_leader_end(build->leader);
	build->leader = NULL;
}

/*
 * Read the table, with workers if some are planned and can be started.  Returns the number of live
 * rows.
 */
static double
read_table(Build *build)
{
	GpuSortIndexReader *reader = &build->reader;
	int			planned = gpusort_index_workers(&reader->target);
	double		live;

	reader->by_pages = gpusort_index_can_read_pages(&reader->target);
	reader->blocks.reports = true;
	if (planned > 0)
		build->leader = gpusort_leader_begin(reader, planned);
	if (build->leader != NULL)
		build->workers = gpusort_leader_workers(build->leader);
	live = gpusort_index_scan(reader);
	if (build->leader != NULL)
		live = gpusort_leader_finish_reading(build->leader, reader, live);
	return live;
}

/* Scan the table into the sort.  Returns false if some row could not be taken in. */
static bool
scan_table(Build *build, IndexBuildResult *result)
{
	instr_time	start;

	INSTR_TIME_SET_CURRENT(start);
	gpusort_progress_phase(PROGRESS_BTREE_PHASE_INDEXBUILD_TABLESCAN, 0);
	result->heap_tuples = read_table(build);
	result->index_tuples = gpusort_rows(build->reader.rows.sort);
	gpusort_fault_pause(GPUSORT_PAUSE_SCANNED);
	build->times.scan = gpusort_elapsed(start);
	return !build->reader.rows.failed;
}

/*
 * Sort the rows, and check uniqueness if all of them are in memory.  Returns false if the sort has
 * to be given up.  If the rows have spilled, write_spilled_rows() checks uniqueness.
 */
static bool
sort_and_check(Build *build)
{
	GpuSort    *sort = build->reader.rows.sort;
	bool		unique = build->reader.target.info->ii_Unique;
	uint64		rows = gpusort_rows(sort);
	gs_progress space;
	gs_progress *progress;
	gs_progress outer;
	instr_time	start;

	INSTR_TIME_SET_CURRENT(start);
	gpusort_progress_phase(PROGRESS_BTREE_PHASE_PERFORMSORT_1, rows);
	progress = gpusort_progress_rows(&space, rows);
	gs_progress_plan(progress, 1);
	outer = gs_progress_enter(progress, unique ? 1 - UNIQUE_PROGRESS : 1);
	gpusort_show_progress(sort, progress);
	if (build->leader != NULL)
		gpusort_divide_index(sort, &build->reader.target);
	gpusort_perform(sort);
	gpusort_show_progress(sort, NULL);
	gs_progress_leave(progress, &outer);
	gpusort_fault_pause(GPUSORT_PAUSE_SORTED);
	if (gpusort_get_stats(sort)->handover != GPUSORT_HANDOVER_NONE)
		return false;
	if (gpusort_is_in_memory(sort))
	{
		GpuSortUniqueCheck check;
		GpuSortView view;

		gs_progress_plan(progress, rows);
		gpusort_view(sort, &view);
		gpusort_index_unique_begin(&check, &build->reader.target);
		gpusort_index_unique_judge(&check, sort, &view, progress);
	}
	gs_progress_finish(progress);
	gpusort_fault_pause(GPUSORT_PAUSE_CHECKED);
	build->times.sort = gpusort_elapsed(start);
	return true;
}

/*
 * Write the index from rows that are all in memory, with the workers if there are any and they can
 * write.
 */
static void
write_rows(Build *build)
{
	const GpuSortIndexTarget *target = &build->reader.target;
	const GpuSortIndexSlices *slices = NULL;
	GpuSortIndexWriter *writer;
	GpuSortView view;

	gpusort_view(build->reader.rows.sort, &view);
	if (build->leader != NULL)
		slices = gpusort_leader_slices(build->leader);
	if (slices != NULL)
		build->slices = gpusort_slices_write(slices, target, build->reader.rows.sort, &view);
	if (build->slices > 0)
		return;
	writer = gpusort_index_writer_begin(target, build->reader.rows.sort);
	gpusort_index_writer_put(writer, &view);
	gpusort_index_writer_finish(writer);
}

/*
 * Write the index from rows in temporary files, reading a part of them back at a time, and check
 * their uniqueness as they pass; with the workers if there are any and they can write.
 */
static void
write_spilled_rows(Build *build)
{
	const GpuSortIndexTarget *target = &build->reader.target;
	GpuSort    *sort = build->reader.rows.sort;
	const GpuSortIndexSlices *slices = NULL;
	GpuSortIndexWriter *writer;
	GpuSortUniqueCheck check;
	uint64		to;

	if (build->leader != NULL)
		slices = gpusort_leader_slices(build->leader);
	if (slices != NULL)
		build->slices = gpusort_portions_write(slices, target, sort);
	if (build->slices > 0)
		return;
	writer = gpusort_index_writer_begin(target, sort);
	gpusort_index_unique_begin(&check, target);
	for (uint64 position = 0; position < gpusort_rows(sort); position = to)
	{
		GpuSortView view;

		to = gpusort_result_window(sort, position, &view);
		gpusort_index_unique_judge(&check, sort, &view, NULL);
		gpusort_index_writer_put(writer, &view);
	}
	gpusort_index_writer_finish(writer);
}

static void
write_index(Build *build)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "gpusort index writer",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);

	if (gpusort_is_in_memory(build->reader.rows.sort))
		write_rows(build);
	else
		write_spilled_rows(build);
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(context);
}

/* Write the index, and let the workers end. */
static void
load(Build *build)
{
	instr_time	start;

	INSTR_TIME_SET_CURRENT(start);
	gpusort_progress_phase(PROGRESS_BTREE_PHASE_LEAF_LOAD, gpusort_rows(build->reader.rows.sort));
	write_index(build);
	end_workers(build);
	gpusort_fault_pause(GPUSORT_PAUSE_WRITTEN);
	build->times.write = gpusort_elapsed(start);
}

static void
log_build(const Build *build)
{
	const GpuSort *sort = build->reader.rows.sort;
	const GpuSortStats *stats = gpusort_get_stats(sort);
	const BuildTimes *times = &build->times;
	const char *spilled = stats->runs == 0 ? ""
		: psprintf(", " UINT64_FORMAT " runs, " UINT64_FORMAT " portions, " UINT64_FORMAT " kB kept", stats->runs, stats->portions,
				   stats->kept_bytes / 1024);

	ereport(DEBUG1,
			(errmsg_internal("gpusort: built index \"%s\": " UINT64_FORMAT " rows, %d workers, %u slices, scan %.1f ms (joining %.1f ms), sort %.1f ms, write %.1f ms%s%s",
							 RelationGetRelationName(build->reader.target.index),
							 gpusort_rows(sort), build->workers, build->slices,
							 INSTR_TIME_GET_MILLISEC(times->scan),
							 INSTR_TIME_GET_MILLISEC(stats->join_time),
							 INSTR_TIME_GET_MILLISEC(times->sort),
							 INSTR_TIME_GET_MILLISEC(times->write), spilled,
							 stats->reordered_rows > 0 ? ", reordered" : "")));
}

static const char *
give_up_reason(const GpuSortIndexReader *reader)
{
	if (reader->rows.hopeless)
		return "tuples are not going to fit into maintenance_work_mem and the pool";
	return gpusort_handover_reason(gpusort_get_stats(reader->rows.sort)->handover);
}

/*
 * Build the index here.  Returns false and sets *reason if nothing was written, so that btbuild()
 * can start over.
 */
static bool
build_sorted(Build *build, const GpuSortSpec *spec, size_t limit_bytes, IndexBuildResult *result,
			 const char **reason)
{
	GpuSort    *sort = gpusort_begin_index(build->reader.target.index, spec, limit_bytes);
	bool		sorted;

	if (sort == NULL)
	{
		*reason = "no address space";
		return false;
	}
	build->reader.rows.sort = sort;
	sorted = scan_table(build, result) && sort_and_check(build);
	if (sorted)
	{
		load(build);
		log_build(build);
	}
	else
	{
		*reason = give_up_reason(&build->reader);
		build->pages_read = gpusort_blocks_read(&build->reader.blocks);
		end_workers(build);
	}
	gpusort_note_sort(sort, build->times.scan, build->times.write);
	gpusort_end(sort);
	return sorted;
}

IndexBuildResult *
gpusort_build_index(Relation heap, Relation index, IndexInfo *info)
{
	IndexBuildResult *result = palloc(sizeof(IndexBuildResult));
	Build		build = {.reader.target = {heap, index, info}};
	size_t		limit_bytes = (size_t) maintenance_work_mem * 1024;
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "gpusort index build",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	const char *reason = NULL;
	GpuSortSpec spec;
	bool		built = false;

	if (!gpusort_index_is_eligible(&build.reader.target, limit_bytes, &spec, &reason))
		gpusort_index_counters.left++;
	else if (build_sorted(&build, &spec, limit_bytes, result, &reason))
	{
		gpusort_index_counters.built++;
		built = true;
	}
	else
		gpusort_index_counters.given_up++;
	gpusort_index_counters.workers += build.workers;
	gpusort_index_counters.slices += build.slices;
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	if (built)
		return result;

	ereport(DEBUG1,
			(errmsg_internal("gpusort: left index \"%s\" to PostgreSQL: %s",
							 RelationGetRelationName(index), reason),
			 build.pages_read > 0 ?
			 errdetail_internal("%u of %u pages had been read.", build.pages_read,
								build.reader.blocks.total) : 0));
	gpusort_progress_reset();
	pfree(result);
	return btbuild(heap, index, info);
}
