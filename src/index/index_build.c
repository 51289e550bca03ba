/*
 * index_build.c
 *		Building a btree index: collect, sort, check, write.
 *
 * The counterpart of btbuild(), and what it does as seen from outside: the same
 * index, counts, progress phases and errors.  Rows that are dead but not to all
 * go into the same sort as live ones and carry a mark, instead of into a second
 * sort, so that one stream in index order comes out.
 *
 * Until the first page is written nothing has happened that btbuild() could not do
 * again, so whatever stops us ends there: an index that we have no key encoding
 * for, a table too small to bother, memory that does not suffice, a value without
 * encoding.  Such a table is scanned once more.
 *
 * There is no state outside of the build, since builds nest: a function in an
 * index expression may build an index.  Everything hangs on a memory context of
 * the build.
 */
#include "postgres.h"

#include "access/nbtree.h"
#include "access/transam.h"
#include "catalog/catalog.h"
#include "commands/progress.h"
#include "miscadmin.h"
#include "optimizer/plancat.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "storage/lock.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "cost/cost.h"
#include "index/index_build.h"
#include "index/index_parallel.h"
#include "index/index_progress.h"
#include "index/index_writer.h"
#include "pg_compat.h"
#include "settings.h"
#include "sort/dead_rows.h"
#include "sort/sort_limits.h"

/* Width of a value of unknown length, as the planner assumes it. */
#define UNKNOWN_WIDTH	32

/* Of the time for sorting that the check of uniqueness may take at most. */
#define UNIQUE_PART		0.02

/* Where inject_fault = pause waits for the advisory lock (class, place). */
#define PAUSE_LOCK_CLASS	4753

typedef enum PausePlace
{
	PAUSE_SCANNED = 1,
	PAUSE_SORTED,
	PAUSE_CHECKED,
	PAUSE_WRITTEN
} PausePlace;

GpuSortIndexCounters gpusort_index_counters;

/* When the phases of a build began; the last one is its end. */
typedef struct BuildTimes
{
	instr_time	scan;
	instr_time	sort;
	instr_time	write;
} BuildTimes;

bool
gpusort_index_sort_spec(Relation index, GpuSortSpec *spec, const char **reason)
{
	int			nkeys = IndexRelationGetNumberOfKeyAttributes(index);

	spec->nkeys = nkeys;
	spec->attnos = palloc(nkeys * sizeof(AttrNumber));
	spec->sortops = palloc(nkeys * sizeof(Oid));
	spec->collations = index->rd_indcollation;
	spec->nulls_first = palloc(nkeys * sizeof(bool));
	for (int i = 0; i < nkeys; i++)
	{
		int16		option = index->rd_indoption[i];
		Oid			type = index->rd_opcintype[i];

		spec->attnos[i] = i + 1;
		spec->sortops[i] = get_opfamily_member(index->rd_opfamily[i], type, type,
											   (option & INDOPTION_DESC) != 0
											   ? BTGreaterStrategyNumber
											   : BTLessStrategyNumber);
		spec->nulls_first[i] = (option & INDOPTION_NULLS_FIRST) != 0;
		if (!OidIsValid(spec->sortops[i]))
		{
			*reason = "operator family has no ordering operator";
			return false;
		}
		if (!gpusort_codec_fits_class(spec->sortops[i], index->rd_opfamily[i], type,
									  index_getprocid(index, i + 1, BTORDER_PROC), reason))
			return false;
	}
	return true;
}

/* Average width of an index's tuples, without their header. */
static int
tuple_width(Relation heap, Relation index, const IndexInfo *info)
{
	TupleDesc	desc = RelationGetDescr(index);
	int			width = 0;

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);
		AttrNumber	heap_attno = info->ii_IndexAttrNumbers[i];
		int			att_width = att->attlen;

		if (att_width <= 0 && heap_attno > 0)
			att_width = get_attavgwidth(RelationGetRelid(heap), heap_attno);
		width += att_width > 0 ? att_width : UNKNOWN_WIDTH;
	}
	return width;
}

/*
 * Is the build large enough, and small enough for the memory it may use?  Notes
 * how many rows are expected.
 */
static bool
is_worth_it(Relation heap, Relation index, const IndexInfo *info, GpuSortSpec *spec,
			size_t limit_bytes, const char **reason)
{
	GpuSortEstimate estimate;
	Oid		   *types = palloc(spec->nkeys * sizeof(Oid));
	GpuSortCostKeys keys = {spec->nkeys, spec->sortops, types, spec->collations};
	BlockNumber pages;
	double		rows;
	double		all_visible;
	double		header_bytes = MAXALIGN(SizeofMinimalTupleHeader) - sizeof(IndexTupleData);

	for (int i = 0; i < spec->nkeys; i++)
		types[i] = TupleDescAttr(RelationGetDescr(index), i)->atttypid;
	estimate_rel_size(heap, NULL, &pages, &rows, &all_visible);
	if (!gpusort_estimate(&keys, rows, tuple_width(heap, index, info), &estimate, reason))
		return false;
	spec->expected_rows = rows;
	if (gpusort_force)
		return true;
	if (rows < gpusort_min_rows)
		*reason = "fewer rows estimated than gpusort.min_rows";
	else if (info->ii_Predicate == NIL &&
			 estimate.memory_bytes - rows * header_bytes > limit_bytes + gpusort_pool_limit())
		*reason = "tuples estimated not to fit into maintenance_work_mem and the pool";
	else
		return true;
	return false;
}

/* Can the build be ours?  Fills *spec. */
static bool
is_eligible(Relation heap, Relation index, const IndexInfo *info, GpuSortSpec *spec,
			size_t limit_bytes, const char **reason)
{
	if (!gpusort_enabled || !gpusort_enable_index_build)
		*reason = "switched off";
	else if (RelationGetRelid(heap) < FirstNormalObjectId || IsCatalogRelation(heap) ||
			 IsToastRelation(heap))
		*reason = "index of a system table";
	else if (RelationGetNumberOfBlocks(index) != 0)
		*reason = "index has pages";
	else
		return gpusort_index_sort_spec(index, spec, reason) &&
			is_worth_it(heap, index, info, spec, limit_bytes, reason);
	return false;
}

/* For tests: stand still, to be looked at, while somebody has the place's lock. */
static void
pause_at(PausePlace place)
{
	LOCKTAG		lock;

	if (likely(gpusort_inject_fault != GPUSORT_FAULT_PAUSE))
		return;
	/* not by the function, which refuses to while there are workers */
	SET_LOCKTAG_ADVISORY(lock, MyDatabaseId, PAUSE_LOCK_CLASS, place, 2);
	(void) LockAcquire(&lock, ShareLock, false, false);
	LockRelease(&lock, ShareLock, false);
}

/* Scan the table; false if some row could not be taken in. */
static bool
collect(GpuSortIndexBuild *build, IndexBuildResult *result)
{
	gpusort_progress_phase(PROGRESS_BTREE_PHASE_INDEXBUILD_TABLESCAN, 0);
	result->heap_tuples = gpusort_index_collect(build);
	result->index_tuples = gpusort_rows(build->sort);
	pause_at(PAUSE_SCANNED);
	return !build->failed;
}

/* Sort, and judge uniqueness; false if the sort must be given up. */
static bool
sort_and_check(GpuSortIndexBuild *build)
{
	uint64		rows = gpusort_rows(build->sort);
	gs_progress space;
	gs_progress *progress;
	gs_progress outer;

	gpusort_progress_phase(PROGRESS_BTREE_PHASE_PERFORMSORT_1, rows);
	progress = gpusort_progress_rows(&space, rows);
	gs_progress_plan(progress, 1);
	outer = gs_progress_enter(progress, build->info->ii_Unique ? 1 - UNIQUE_PART : 1);
	gpusort_show_progress(build->sort, progress);
	gpusort_perform(build->sort);
	gpusort_show_progress(build->sort, NULL);
	gs_progress_leave(progress, &outer);
	pause_at(PAUSE_SORTED);
	if (gpusort_get_stats(build->sort)->handover != GPUSORT_HANDOVER_NONE)
		return false;
	if (build->info->ii_Unique)
	{
		gs_progress_plan(progress, rows);
		gpusort_index_check_unique(build, progress);
	}
	gpusort_unmark_dead(build->sort);
	gs_progress_finish(progress);
	pause_at(PAUSE_CHECKED);
	return true;
}

static double
ms_between(instr_time from, instr_time to)
{
	INSTR_TIME_SUBTRACT(to, from);
	return INSTR_TIME_GET_MILLISEC(to);
}

static void
log_build(const GpuSortIndexBuild *build, const BuildTimes *times)
{
	instr_time	now;

	INSTR_TIME_SET_CURRENT(now);
	ereport(DEBUG1,
			(errmsg_internal("gpusort: built index \"%s\": " UINT64_FORMAT " rows, %d workers, %u slices, scan %.1f ms (joining %.1f ms), sort %.1f ms, write %.1f ms%s",
							 RelationGetRelationName(build->index), gpusort_rows(build->sort),
							 build->workers, build->slices_written,
							 ms_between(times->scan, times->sort),
							 INSTR_TIME_GET_MILLISEC(gpusort_get_stats(build->sort)->join_time),
							 ms_between(times->sort, times->write),
							 ms_between(times->write, now),
							 gpusort_get_stats(build->sort)->reordered_rows > 0 ? ", reordered" : "")));
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

/* Build the index; false, and *reason, if nothing was written. */
static bool
build_sorted(GpuSortIndexBuild *build, const GpuSortSpec *spec, size_t limit_bytes,
			 IndexBuildResult *result, const char **reason)
{
	BuildTimes	times;

	build->sort = gpusort_begin_index(build->index, spec, limit_bytes);
	if (build->sort == NULL)
	{
		*reason = "no address space";
		return false;
	}
	INSTR_TIME_SET_CURRENT(times.scan);
	if (collect(build, result))
	{
		INSTR_TIME_SET_CURRENT(times.sort);
		if (sort_and_check(build))
		{
			INSTR_TIME_SET_CURRENT(times.write);
			gpusort_progress_phase(PROGRESS_BTREE_PHASE_LEAF_LOAD, gpusort_rows(build->sort));
			gpusort_index_write(build);
			gpusort_index_end_parallel(build);
			pause_at(PAUSE_WRITTEN);
			log_build(build, &times);
			gpusort_end(build->sort);
			return true;
		}
	}
	*reason = give_up_reason(build->sort);
	gpusort_index_end_parallel(build);
	gpusort_end(build->sort);
	return false;
}

IndexBuildResult *
gpusort_build_index(Relation heap, Relation index, IndexInfo *info)
{
	IndexBuildResult *result = palloc(sizeof(IndexBuildResult));
	GpuSortIndexBuild build = {.heap = heap, .index = index, .info = info};
	size_t		limit_bytes = (size_t) maintenance_work_mem * 1024;
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "gpusort index build",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	const char *reason = NULL;
	GpuSortSpec spec;
	bool		built = false;

	if (!is_eligible(heap, index, info, &spec, limit_bytes, &reason))
		gpusort_index_counters.left++;
	else if (build_sorted(&build, &spec, limit_bytes, result, &reason))
	{
		gpusort_index_counters.built++;
		built = true;
	}
	else
		gpusort_index_counters.given_up++;
	gpusort_index_counters.workers += build.workers;
	gpusort_index_counters.slices += build.slices_written;
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	if (built)
		return result;

	ereport(DEBUG1,
			(errmsg_internal("gpusort: left index \"%s\" to PostgreSQL: %s",
							 RelationGetRelationName(index), reason)));
	gpusort_progress_reset();
	pfree(result);
	return btbuild(heap, index, info);
}
