/*
 * cluster_workers.c
 *		Copies a table with parallel workers; see cluster_copy_private.h.
 *
 * On error the server ends the workers before it resets memory contexts.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/table.h"
#include "miscadmin.h"
#include "optimizer/paths.h"
#include "storage/bufmgr.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "cluster/cluster_copy_private.h"
#include "cluster/cluster_version_private.h"
#include "cluster/cluster_write_private.h"
#include "index/index.h"
#include "pg_compat.h"
#include "settings.h"
#include "sort/sort.h"
#include "sort/sort_parts.h"
#include "sort/sort_view.h"
#include "team/worker_wait.h"
#include "team/workers.h"

/* Members of the shared memory. */
enum
{
	MEMBER_TASK,
	MEMBER_VIEW,					/* if workers write */
	MEMBER_TEAM,					/* if workers read */
	MEMBERS
};

/* A part of the sort with less memory than this can't do much with it. */
#define PART_BYTES			((size_t) 32 * 1024 * 1024)

/* What workers are to do: either read or write. */
typedef struct ClusterTask
{
	Oid			old_heap;
	Oid			new_heap;
	Oid			index;
	GpuSortClusterCopy copy;	/* without the relations */
	bool		writes;
	uint32		parts;			/* number of the shared sort that is read into */
	Barrier		read;			/* participants arrive here when they have read */
	GpuSortClusterShare share;
	GpuSortClusterSlices slices;
} ClusterTask;

struct GpuSortClusterReaders
{
	ParallelContext *context;
	GpuSort    *sort;
};

/* Wait event of a process that waits for the others to have read; 0 until it is first used. */
static uint32 wait_event = 0;

PGDLLEXPORT void gpusort_cluster_worker(dsm_segment *segment, shm_toc *toc);

/* ---------- how many ---------- */

/* Returns how many workers a table of this size gets, by the planner's rule for parallel scans. */
static int
workers_for_pages(BlockNumber pages)
{
	double		threshold = Max(min_parallel_table_scan_size, 1);
	int			workers = 0;

	for (; pages >= threshold; threshold *= 3)
		workers++;
	return workers;
}

int
gpusort_cluster_wanted_workers(const GpuSortClusterCopy *copy)
{
	int			workers = RelationGetParallelWorkers(copy->old_heap, -1);

	/* other processes can't read temporary tables */
	if (RelationUsesLocalBuffers(copy->old_heap) || IsParallelWorker() || !IsUnderPostmaster)
		return 0;
	if (workers < 0)
		workers = workers_for_pages(RelationGetNumberOfBlocks(copy->old_heap));
	return Min(workers, gpusort_maintenance_workers());
}

/*
 * Returns how many of nworkers workers have memory for a part of the sort, besides the leader's
 * part.
 */
static int
readers_for_memory(int nworkers)
{
	size_t		parts = gpusort_sort_pool_available() / PART_BYTES;

	return gpusort_force ? nworkers : (int) Min((size_t) nworkers, parts > 0 ? parts - 1 : 0);
}

/* ---------- the leader ---------- */

static void
init_task(ClusterTask *task, const GpuSortClusterCopy *copy)
{
	memset(task, 0, sizeof(*task));
	task->old_heap = RelationGetRelid(copy->old_heap);
	task->new_heap = RelationGetRelid(copy->new_heap);
	task->index = RelationGetRelid(copy->index);
	task->copy = *copy;
	task->copy.old_heap = task->copy.new_heap = task->copy.index = NULL;
	BarrierInit(&task->read, 0);
}

/* ---------- reading ---------- */

/* Read this participant's share of the table into a part of the sort. */
static void
read_part(const GpuSortClusterCopy *copy, TupleDesc desc, GpuSortParts *parts,
		  GpuSortClusterShare *share)
{
	GpuSortSpec spec;
	const char *reason;
	GpuSort    *part = NULL;
	GpuSortClusterReader *reader;

	if (gpusort_cluster_sort_spec(copy->index, &spec, &reason))
		part = gpusort_parts_begin_part(parts, desc, &spec);
	/* if there is no address space, the other participants read all pages */
	if (part == NULL)
		return;
	reader = gpusort_cluster_reader_begin(copy, part, true);
	gpusort_cluster_reader_read(reader, share, !IsParallelWorker());
	gpusort_cluster_reader_end(reader);
	gpusort_parts_finish_part(parts, part);
	gpusort_end(part);
}

/* Read the leader's share of the table, in a memory context that is deleted afterwards. */
static void
read_own_part(const GpuSortClusterCopy *copy, TupleDesc desc, GpuSortParts *parts,
			  GpuSortClusterShare *share)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "gpusort part",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);

	read_part(copy, desc, parts, share);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
}

/*
 * Read the table with those workers that come in time, once they are launched.  Returns false if a
 * version could not be put.
 */
static bool
read_all(ParallelContext *context, const GpuSortClusterCopy *copy, GpuSort *sort,
		 GpuSortParts *parts, TupleDesc desc)
{
	ClusterTask   *task = gpusort_member(context->toc, MEMBER_TASK);

	gpusort_parts_launched(parts, context->nworkers_launched + 1);
	read_own_part(copy, desc, parts, &task->share);
	(void) gpusort_worker_arrive(&task->read, gpusort_wait_event(&wait_event, "GpuSortHeapRead"));
	gpusort_cluster_share_show(&task->share);
	if (!gpusort_cluster_share_is_complete(&task->share))
		return false;
	gpusort_parts_join(parts, sort);
	gpusort_use_team(sort, gpusort_member(context->toc, MEMBER_TEAM),
					 context->nworkers_launched + 1);
	return true;
}

/* What a task of reading is made of. */
typedef struct Reading
{
	const GpuSortClusterCopy *copy;
	GpuSortParts *parts;
} Reading;

static bool
fill_reading(void *member, const GpuSortMember *declared, ParallelContext *context)
{
	ClusterTask   *task = member;
	const Reading *reading = declared->from;

	init_task(task, reading->copy);
	task->parts = gpusort_parts_number(reading->parts);
	gpusort_cluster_share_init(&task->share, RelationGetNumberOfBlocks(reading->copy->old_heap));
	/*
	 * The leader attaches before there are workers.  Otherwise a worker that arrives alone would
	 * open the barrier, and nobody would wait for the leader's rows.
	 */
	(void) BarrierAttach(&task->read);
	return true;
}

GpuSortClusterHelp
gpusort_cluster_read_with_workers(const GpuSortClusterCopy *copy, GpuSort *sort, TupleDesc desc,
								  int nworkers, GpuSortClusterReaders **readers,
								  GpuSortClusterFindings *findings)
{
	Reading		reading = {.copy = copy};
	const GpuSortMember members[MEMBERS] = {
		[MEMBER_TASK] = {sizeof(ClusterTask), fill_reading, &reading},
		[MEMBER_TEAM] = gpusort_team_member()
	};
	ParallelContext *context;
	bool		complete;

	nworkers = readers_for_memory(nworkers);
	if (nworkers == 0 ||
		(gpusort_cluster_has_keys(copy->index) && !gpusort_cluster_keys_are_safe(copy->index)))
		return GPUSORT_CLUSTER_NO_WORKERS;
	reading.parts = gpusort_parts_create(sort, nworkers + 1, gpusort_expected_rows(sort));
	if (reading.parts == NULL)
		return GPUSORT_CLUSTER_NO_WORKERS;
	context = gpusort_workers_start("gpusort_cluster_worker", nworkers, members, MEMBERS);
	if (context == NULL)
	{
		gpusort_parts_dissolve(sort);
		return GPUSORT_CLUSTER_NO_WORKERS;
	}
	*readers = palloc(sizeof(GpuSortClusterReaders));
	**readers = (GpuSortClusterReaders) {context, sort};
	complete = read_all(context, copy, sort, reading.parts, desc);
	*findings = ((ClusterTask *) gpusort_member(context->toc, MEMBER_TASK))->share.findings;
	if (complete)
		return GPUSORT_CLUSTER_DONE;
	(void) gpusort_cluster_readers_end(*readers);
	*readers = NULL;
	return GPUSORT_CLUSTER_FAILED;
}

int
gpusort_cluster_readers_end(GpuSortClusterReaders *readers)
{
	ParallelContext *context = readers->context;
	int			launched = context->nworkers_launched;

	gpusort_team_dismiss(gpusort_member(context->toc, MEMBER_TEAM));
	gpusort_use_team(readers->sort, NULL, 0);
	gpusort_workers_finish(context);
	gpusort_workers_end(context);
	pfree(readers);
	return launched;
}

/* ---------- writing ---------- */

/* What a task of writing is made of. */
typedef struct Writing
{
	const GpuSortClusterCopy *copy;
	const GpuSortView *view;
	const GpuSortClusterFindings *findings;
} Writing;

static bool
fill_writing(void *member, const GpuSortMember *declared, ParallelContext *context)
{
	ClusterTask   *task = member;
	const Writing *writing = declared->from;

	init_task(task, writing->copy);
	task->writes = true;
	return gpusort_cluster_slices_init(&task->slices, writing->copy, writing->view,
									   writing->findings);
}

bool
gpusort_cluster_write_with_workers(const GpuSortClusterCopy *copy, GpuSort *sort,
								   const GpuSortClusterFindings *findings, int nworkers,
								   int *launched)
{
	GpuSortView view;
	Writing		writing = {copy, &view, findings};
	const GpuSortMember members[MEMBERS] = {
		[MEMBER_TASK] = {sizeof(ClusterTask), fill_writing, &writing},
		[MEMBER_VIEW] = gpusort_view_member(sort)
	};
	/* before any process writes, since the storage watches for checkpoints from here on */
	GpuSortStorage *storage = gpusort_storage_begin(copy->new_heap);
	ParallelContext *context;
	ClusterTask   *task;

	gpusort_view(sort, &view);
	context = gpusort_workers_start("gpusort_cluster_worker", nworkers, members, MEMBERS);
	*launched = context != NULL ? context->nworkers_launched : 0;
	if (context == NULL)
		return false;
	task = gpusort_member(context->toc, MEMBER_TASK);
	gpusort_cluster_slices_put(&task->slices, copy->new_heap, storage, &view);
	gpusort_workers_finish(context);
	gpusort_storage_finish(storage);
	gpusort_workers_end(context);
	return true;
}

/* ---------- a worker ---------- */

/*
 * Read a share of the table, and then help to sort.  A worker that starts when all has been read
 * only helps to sort.
 */
static void
read_and_help(ClusterTask *task, const GpuSortClusterCopy *copy, GpuSortTeam *team)
{
	if (BarrierAttach(&task->read) == 0)
	{
		read_part(copy, gpusort_cluster_sort_desc(copy->old_heap, copy->index),
				  gpusort_parts_attach(task->parts), &task->share);
		(void) gpusort_worker_arrive(&task->read, gpusort_wait_event(&wait_event, "GpuSortHeapRead"));
	}
	gpusort_team_help(team);
	(void) BarrierDetach(&task->read);
}

static void
write_slices(ClusterTask *task, const GpuSortClusterCopy *copy, const GpuSortSharedView *shared)
{
	GpuSortViewMapping mapping;
	GpuSortView view;

	if (!gpusort_attach_view(shared, &view, &mapping))
		return;
	gpusort_cluster_slices_put(&task->slices, copy->new_heap, gpusort_storage_begin(copy->new_heap),
							   &view);
	gpusort_detach_view(&mapping);
}

void
gpusort_cluster_worker(dsm_segment *segment, shm_toc *toc)
{
	ClusterTask   *task = gpusort_member(toc, MEMBER_TASK);
	GpuSortClusterCopy copy = task->copy;

	gpusort_begin_worker(toc);
	/* the leader has locked all of these relations */
	copy.old_heap = table_open(task->old_heap, AccessShareLock);
	copy.new_heap = table_open(task->new_heap, RowExclusiveLock);
	copy.index = index_open(task->index, AccessShareLock);
	if (task->writes)
		write_slices(task, &copy, gpusort_member(toc, MEMBER_VIEW));
	else
		read_and_help(task, &copy, gpusort_member(toc, MEMBER_TEAM));
	index_close(copy.index, NoLock);
	table_close(copy.new_heap, NoLock);
	table_close(copy.old_heap, NoLock);
	gpusort_end_worker(toc);
}
