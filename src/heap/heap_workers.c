/*
 * heap_workers.c
 *		Copying a table by parallel workers; see heap_workers.h.
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

#include "heap/heap_eligible.h"
#include "heap/heap_keys.h"
#include "heap/heap_reader.h"
#include "heap/heap_slices.h"
#include "heap/heap_workers.h"
#include "index/index_hook.h"
#include "pg_compat.h"
#include "settings.h"
#include "shared_chunk.h"
#include "sort/parts_join.h"
#include "sort/sort_limits.h"
#include "sort/team_help.h"
#include "sort/view_mapping.h"
#include "worker_start.h"
#include "worker_usage.h"
#include "worker_wait.h"

/* What is in the shared memory. */
#define KEY_TASK			UINT64CONST(0x4753000000000501)
#define KEY_VIEW			UINT64CONST(0x4753000000000502)
#define KEY_TEAM			UINT64CONST(0x4753000000000503)

/* A part of the sort that has less memory than this can't do much with it. */
#define PART_BYTES			((size_t) 32 * 1024 * 1024)

/* What workers are to do: one of the two. */
typedef struct HeapTask
{
	Oid			old_heap;
	Oid			new_heap;
	Oid			index;
	GpuSortHeapCopy copy;		/* but for the relations */
	bool		writes;
	uint32		parts;			/* of the sort that is read into */
	Barrier		read;			/* participants arrive when they have read */
	GpuSortHeapShare share;
	GpuSortHeapSlices slices;
} HeapTask;

typedef struct HeapLeader
{
	ParallelContext *context;
	HeapTask   *task;
	GpuSortSharedView *view;	/* if they write */
	GpuSortTeam *team;			/* if they read */
} HeapLeader;

struct GpuSortHeapReaders
{
	HeapLeader	leader;
	GpuSort    *sort;
};

/* What a process waits for here, as others see it. */
static uint32 wait_event = 0;

PGDLLEXPORT void gpusort_heap_worker(dsm_segment *segment, shm_toc *toc);

/* ---------- how many ---------- */

/* By the size of a table, as the planner gives parallel scans workers. */
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
gpusort_heap_wanted_workers(const GpuSortHeapCopy *copy)
{
	int			workers = RelationGetParallelWorkers(copy->old_heap, -1);

	/* nobody else can see temporary tables */
	if (RelationUsesLocalBuffers(copy->old_heap) || IsParallelWorker() || !IsUnderPostmaster)
		return 0;
	if (workers < 0)
		workers = workers_for_pages(RelationGetNumberOfBlocks(copy->old_heap));
	return Min(workers, gpusort_maintenance_workers());
}

/* Of so many, how many have memory to read a part, beside the leader? */
static int
readers_for_memory(int nworkers)
{
	size_t		parts = gpusort_pool_available() / PART_BYTES;

	return gpusort_force ? nworkers : (int) Min((size_t) nworkers, parts > 0 ? parts - 1 : 0);
}

/* ---------- the leader ---------- */

static void
fill_task(HeapTask *task, const GpuSortHeapCopy *copy)
{
	memset(task, 0, sizeof(*task));
	task->old_heap = RelationGetRelid(copy->old_heap);
	task->new_heap = RelationGetRelid(copy->new_heap);
	task->index = RelationGetRelid(copy->index);
	task->copy = *copy;
	task->copy.old_heap = task->copy.new_heap = task->copy.index = NULL;
	BarrierInit(&task->read, 0);
}

/* Make what the workers find; false if there is no shared memory. */
static bool
make_shared_memory(HeapLeader *leader, const GpuSortHeapCopy *copy)
{
	ParallelContext *context = leader->context;
	const Size	bytes[] = {
		sizeof(HeapTask), gpusort_shared_view_bytes(), gpusort_team_bytes()
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

/* Begin with the workers' shared memory; end_leader() has to follow, also if that is false. */
static bool
begin_leader(HeapLeader *leader, const GpuSortHeapCopy *copy, int nworkers)
{
	EnterParallelMode();
	memset(leader, 0, sizeof(*leader));
	leader->context = gpusort_create_parallel_context("gpusort_heap_worker", nworkers);
	return make_shared_memory(leader, copy);
}

/* How many workers have come. */
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

/* A participant: read a part of the sort. */
static void
read_part(const GpuSortHeapCopy *copy, TupleDesc desc, GpuSortParts *parts, GpuSortHeapShare *share)
{
	GpuSortSpec spec;
	const char *reason;
	GpuSort    *part = NULL;
	GpuSortHeapReader *reader;

	if (gpusort_heap_sort_spec(copy->index, &spec, &reason))
		part = gpusort_parts_begin_part(parts, desc, &spec);
	/* without address space: the others read on */
	if (part == NULL)
		return;
	reader = gpusort_heap_reader_begin(copy, part, true);
	gpusort_heap_reader_read(reader, share, !IsParallelWorker());
	gpusort_heap_reader_end(reader);
	gpusort_parts_finish_part(parts, part);
	gpusort_end(part);
}

/* The leader's part, in memory of its own. */
static void
read_own_part(const GpuSortHeapCopy *copy, TupleDesc desc, GpuSortParts *parts,
			  GpuSortHeapShare *share)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "gpusort part",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);

	read_part(copy, desc, parts, share);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
}

/*
 * Workers have been launched: read the table with those that come in time.  False if a version could
 * not be put.
 */
static bool
read_all(HeapLeader *leader, const GpuSortHeapCopy *copy, GpuSort *sort, GpuSortParts *parts,
		 TupleDesc desc)
{
	HeapTask   *task = leader->task;

	gpusort_parts_launched(parts, leader->context->nworkers_launched + 1);
	read_own_part(copy, desc, parts, &task->share);
	(void) gpusort_worker_arrive(&task->read, gpusort_wait_event(&wait_event, "GpuSortHeapRead"));
	gpusort_heap_share_show(&task->share);
	if (!gpusort_heap_share_is_complete(&task->share))
		return false;
	gpusort_parts_join(parts, sort);
	gpusort_use_team(sort, leader->team, leader->context->nworkers_launched + 1);
	return true;
}

GpuSortHeapHelp
gpusort_heap_read_with_workers(const GpuSortHeapCopy *copy, GpuSort *sort, TupleDesc desc,
							   int nworkers, GpuSortHeapReaders **readers,
							   GpuSortHeapFindings *findings)
{
	GpuSortHeapHelp help = GPUSORT_HEAP_NO_WORKERS;
	GpuSortParts *parts = NULL;
	HeapLeader *leader;

	nworkers = readers_for_memory(nworkers);
	if (nworkers == 0 ||
		(gpusort_heap_has_keys(copy->index) && !gpusort_heap_keys_are_safe(copy->index)))
		return help;
	*readers = palloc0(sizeof(GpuSortHeapReaders));
	(*readers)->sort = sort;
	leader = &(*readers)->leader;
	if (begin_leader(leader, copy, nworkers))
		parts = gpusort_parts_create(sort, leader->context->nworkers + 1, gpusort_expected_rows(sort));
	if (parts != NULL)
	{
		leader->task->parts = gpusort_parts_number(parts);
		gpusort_heap_share_init(&leader->task->share, RelationGetNumberOfBlocks(copy->old_heap));
		/*
		 * The leader is counted before there are workers, as a worker that arrived alone would open the
		 * barrier, and nobody would wait for the leader's rows.
		 */
		(void) BarrierAttach(&leader->task->read);
		if (launch(leader) > 0)
		{
			help = read_all(leader, copy, sort, parts, desc) ? GPUSORT_HEAP_DONE : GPUSORT_HEAP_FAILED;
			*findings = leader->task->share.findings;
		}
		else
			gpusort_parts_dissolve(sort);
	}
	if (help != GPUSORT_HEAP_DONE)
	{
		(void) gpusort_heap_readers_end(*readers);
		*readers = NULL;
	}
	return help;
}

int
gpusort_heap_readers_end(GpuSortHeapReaders *readers)
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
gpusort_heap_write_with_workers(const GpuSortHeapCopy *copy, GpuSort *sort,
								const GpuSortHeapFindings *findings, int nworkers, int *launched)
{
	HeapLeader	leader;
	GpuSortView view;

	gpusort_view(sort, &view);
	*launched = 0;
	if (begin_leader(&leader, copy, nworkers))
	{
		HeapTask   *task = leader.task;

		task->writes = true;
		if (gpusort_heap_slices_init(&task->slices, copy, &view, findings) &&
			gpusort_publish_view(sort, leader.view))
		{
			/* before anybody writes: checkpoints count since then */
			GpuSortStorage *storage = gpusort_storage_begin(copy->new_heap);

			*launched = launch(&leader);
			if (*launched > 0)
			{
				gpusort_heap_slices_put(&task->slices, copy->new_heap, storage, &view);
				await_workers(&leader);
				gpusort_storage_finish(storage);
			}
		}
	}
	end_leader(&leader);
	return *launched > 0;
}

/* ---------- a worker ---------- */

/* Who comes when all has been read only helps to sort. */
static void
read_and_help(HeapTask *task, const GpuSortHeapCopy *copy, GpuSortTeam *team)
{
	if (BarrierAttach(&task->read) == 0)
	{
		read_part(copy, gpusort_heap_sort_desc(copy->old_heap, copy->index),
				  gpusort_parts_attach(task->parts), &task->share);
		(void) gpusort_worker_arrive(&task->read, gpusort_wait_event(&wait_event, "GpuSortHeapRead"));
	}
	gpusort_team_help(team);
	(void) BarrierDetach(&task->read);
}

static void
write_slices(HeapTask *task, const GpuSortHeapCopy *copy, const GpuSortSharedView *shared)
{
	GpuSortViewMapping mapping;
	GpuSortView view;

	if (!gpusort_attach_view(shared, &view, &mapping))
		return;
	gpusort_heap_slices_put(&task->slices, copy->new_heap, gpusort_storage_begin(copy->new_heap), &view);
	gpusort_detach_view(&mapping);
}

void
gpusort_heap_worker(dsm_segment *segment, shm_toc *toc)
{
	HeapTask   *task = shm_toc_lookup(toc, KEY_TASK, false);
	GpuSortHeapCopy copy = task->copy;

	gpusort_begin_worker(toc);
	/* the leader has locked all of them */
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
