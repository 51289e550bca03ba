/*
 * cluster_workers.c
 *		Copies a table with parallel workers; see cluster_copy_private.h.
 *
 * On error the server ends the workers before it resets memory contexts.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/table.h"
#include "access/xact.h"
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
#include "sort/sort_team.h"
#include "sort/sort_view.h"
#include "team/shared_chunk.h"
#include "team/worker_start.h"
#include "team/worker_usage.h"
#include "team/worker_wait.h"

/* Keys of what is in the shared memory. */
#define KEY_TASK			UINT64CONST(0x4753000000000501)
#define KEY_VIEW			UINT64CONST(0x4753000000000502)
#define KEY_TEAM			UINT64CONST(0x4753000000000503)

/* A part of the sort with less memory than this can't do much with it. */
#define PART_BYTES			((size_t) 32 * 1024 * 1024)

/* What workers are to do: either read or write. */
typedef struct HeapTask
{
	Oid			old_heap;
	Oid			new_heap;
	Oid			index;
	GpuSortClusterCopy copy;		/* without the relations */
	bool		writes;
	uint32		parts;			/* number of the shared sort that is read into */
	Barrier		read;			/* participants arrive here when they have read */
	GpuSortClusterShare share;
	GpuSortClusterSlices slices;
} HeapTask;

typedef struct HeapLeader
{
	ParallelContext *context;
	HeapTask   *task;
	GpuSortSharedView *view;	/* if workers write */
	GpuSortTeam *team;			/* if workers read */
} HeapLeader;

struct GpuSortClusterReaders
{
	HeapLeader	leader;
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
fill_task(HeapTask *task, const GpuSortClusterCopy *copy)
{
	memset(task, 0, sizeof(*task));
	task->old_heap = RelationGetRelid(copy->old_heap);
	task->new_heap = RelationGetRelid(copy->new_heap);
	task->index = RelationGetRelid(copy->index);
	task->copy = *copy;
	task->copy.old_heap = task->copy.new_heap = task->copy.index = NULL;
	BarrierInit(&task->read, 0);
}

/*
 * Create and fill the shared memory that the workers find.  Returns false if there is none to be
 * had.
 */
static bool
make_shared_memory(HeapLeader *leader, const GpuSortClusterCopy *copy)
{
	ParallelContext *context = leader->context;
	const Size	bytes[] = {
		sizeof(HeapTask), gpusort_view_shared_bytes(), gpusort_team_bytes()
	};

	gpusort_estimate_chunks(context, bytes, lengthof(bytes));
	if (!gpusort_init_parallel_context(context))
		return false;
	leader->task = gpusort_make_chunk(context, KEY_TASK, bytes[0]);
	fill_task(leader->task, copy);
	leader->view = gpusort_make_chunk(context, KEY_VIEW, bytes[1]);
	leader->team = gpusort_make_chunk(context, KEY_TEAM, bytes[2]);
	gpusort_team_init(leader->team, 0);
	return true;
}

/*
 * Enter parallel mode and create the workers' shared memory.  Returns false if there is none to be
 * had.  The caller has to call end_leader() in any case.
 */
static bool
begin_leader(HeapLeader *leader, const GpuSortClusterCopy *copy, int nworkers)
{
	EnterParallelMode();
	memset(leader, 0, sizeof(*leader));
	leader->context = gpusort_create_parallel_context("gpusort_cluster_worker", nworkers);
	return make_shared_memory(leader, copy);
}

/* Launch the workers.  Returns how many could be started. */
static int
launch(HeapLeader *leader)
{
	LaunchParallelWorkers(leader->context);
	return leader->context->nworkers_launched;
}

static void
await_workers(HeapLeader *leader)
{
	gpusort_finish_workers(leader->context);
}

static void
end_leader(HeapLeader *leader)
{
	DestroyParallelContext(leader->context);
	ExitParallelMode();
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
read_all(HeapLeader *leader, const GpuSortClusterCopy *copy, GpuSort *sort, GpuSortParts *parts,
		 TupleDesc desc)
{
	HeapTask   *task = leader->task;

	gpusort_parts_launched(parts, leader->context->nworkers_launched + 1);
	read_own_part(copy, desc, parts, &task->share);
	(void) gpusort_worker_arrive(&task->read, gpusort_wait_event(&wait_event, "GpuSortHeapRead"));
	gpusort_cluster_share_show(&task->share);
	if (!gpusort_cluster_share_is_complete(&task->share))
		return false;
	gpusort_parts_join(parts, sort);
	gpusort_use_team(sort, leader->team, leader->context->nworkers_launched + 1);
	return true;
}

GpuSortClusterHelp
gpusort_cluster_read_with_workers(const GpuSortClusterCopy *copy, GpuSort *sort, TupleDesc desc,
								  int nworkers, GpuSortClusterReaders **readers,
								  GpuSortClusterFindings *findings)
{
	GpuSortClusterHelp help = GPUSORT_CLUSTER_NO_WORKERS;
	GpuSortParts *parts = NULL;
	HeapLeader *leader;

	nworkers = readers_for_memory(nworkers);
	if (nworkers == 0 ||
		(gpusort_cluster_has_keys(copy->index) && !gpusort_cluster_keys_are_safe(copy->index)))
		return help;
	*readers = palloc0(sizeof(GpuSortClusterReaders));
	(*readers)->sort = sort;
	leader = &(*readers)->leader;
	if (begin_leader(leader, copy, nworkers))
		parts = gpusort_parts_create(sort, leader->context->nworkers + 1,
									 gpusort_expected_rows(sort));
	if (parts != NULL)
	{
		leader->task->parts = gpusort_parts_number(parts);
		gpusort_cluster_share_init(&leader->task->share, RelationGetNumberOfBlocks(copy->old_heap));
		/*
		 * The leader attaches before there are workers.  Otherwise a worker that arrives alone
		 * would open the barrier, and nobody would wait for the leader's rows.
		 */
		(void) BarrierAttach(&leader->task->read);
		if (launch(leader) > 0)
		{
			help = read_all(leader, copy, sort, parts, desc) ? GPUSORT_CLUSTER_DONE
				: GPUSORT_CLUSTER_FAILED;
			*findings = leader->task->share.findings;
		}
		else
			gpusort_parts_dissolve(sort);
	}
	if (help != GPUSORT_CLUSTER_DONE)
	{
		(void) gpusort_cluster_readers_end(*readers);
		*readers = NULL;
	}
	return help;
}

int
gpusort_cluster_readers_end(GpuSortClusterReaders *readers)
{
	HeapLeader *leader = &readers->leader;
	int			launched = leader->context->nworkers_launched;

	if (launched > 0)
	{
		gpusort_team_dismiss(leader->team);
		gpusort_use_team(readers->sort, NULL, 0);
		await_workers(leader);
	}
	end_leader(leader);
	pfree(readers);
	return launched;
}

/* ---------- writing ---------- */

bool
gpusort_cluster_write_with_workers(const GpuSortClusterCopy *copy, GpuSort *sort,
								   const GpuSortClusterFindings *findings, int nworkers,
								   int *launched)
{
	HeapLeader	leader;
	GpuSortView view;

	gpusort_view(sort, &view);
	*launched = 0;
	if (begin_leader(&leader, copy, nworkers))
	{
		HeapTask   *task = leader.task;

		task->writes = true;
		if (gpusort_cluster_slices_init(&task->slices, copy, &view, findings) &&
			gpusort_publish_view(sort, leader.view))
		{
			/* before any process writes, since the storage watches for checkpoints from here on */
			GpuSortStorage *storage = gpusort_storage_begin(copy->new_heap);

			*launched = launch(&leader);
			if (*launched > 0)
			{
				gpusort_cluster_slices_put(&task->slices, copy->new_heap, storage, &view);
				await_workers(&leader);
				gpusort_storage_finish(storage);
			}
		}
	}
	end_leader(&leader);
	return *launched > 0;
}

/* ---------- a worker ---------- */

/*
 * Read a share of the table, and then help to sort.  A worker that starts when all has been read
 * only helps to sort.
 */
static void
read_and_help(HeapTask *task, const GpuSortClusterCopy *copy, GpuSortTeam *team)
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
write_slices(HeapTask *task, const GpuSortClusterCopy *copy, const GpuSortSharedView *shared)
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
	HeapTask   *task = shm_toc_lookup(toc, KEY_TASK, false);
	GpuSortClusterCopy copy = task->copy;

	gpusort_begin_worker(toc);
	/* the leader has locked all of these relations */
	copy.old_heap = table_open(task->old_heap, AccessShareLock);
	copy.new_heap = table_open(task->new_heap, RowExclusiveLock);
	copy.index = index_open(task->index, AccessShareLock);
	if (task->writes)
		write_slices(task, &copy, shm_toc_lookup(toc, KEY_VIEW, false));
	else
		read_and_help(task, &copy, shm_toc_lookup(toc, KEY_TEAM, false));
	index_close(copy.index, NoLock);
	table_close(copy.new_heap, NoLock);
	table_close(copy.old_heap, NoLock);
	gpusort_end_worker(toc);
}
