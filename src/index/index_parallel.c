/*
 * index_parallel.c
 *		Several processes for one index build: reading the table.
 *
 * Workers and leader collect into parts of a shared sort (sort_parts.h), which the
 * leader joins when all are done.
 *
 * Rows that there is no pool memory for go to the leader's private memory.  A worker
 * sends them, in batches, through a queue: they go into a sort of its own that has
 * no key columns, a row store that is sent and emptied whenever it holds a batch.
 * The leader encodes their keys.  It looks into its queues after each page or few
 * rows that it has read itself.
 *
 * Everybody takes pages from one counter (or from the server's parallel scan,
 * where the server reads), so rows do not arrive in the order of their TIDs.
 *
 * Workers that have read all stay, to write the index (index_slices.c).
 *
 * A leader that gives the build up detaches from the queues, which makes the
 * workers stop; a worker that cannot take a row in says so in shared memory.
 * Errors travel the server's way.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/parallel.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "port/atomics.h"
#include "storage/latch.h"
#include "storage/shm_mq.h"
#include "storage/spin.h"
#include "tcop/tcopprot.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "index/index_collect.h"
#include "index/index_parallel.h"
#include "index/index_progress.h"
#include "index/index_slices.h"
#include "sort/sort_fetch.h"
#include "sort/sort_parts.h"
#include "sort/sort_put.h"

/* Parts of the shared memory. */
#define KEY_BUILD			UINT64CONST(0x4753000000000001)
#define KEY_SCAN			UINT64CONST(0x4753000000000002)
#define KEY_QUEUES			UINT64CONST(0x4753000000000003)
#define KEY_QUERY			UINT64CONST(0x4753000000000004)
#define KEY_WAL_USAGE		UINT64CONST(0x4753000000000005)
#define KEY_BUFFER_USAGE	UINT64CONST(0x4753000000000006)
#define KEY_SLICES			UINT64CONST(0x4753000000000007)

/*
 * A batch is half a queue at most, so that a worker fills one while the leader
 * reads another.
 */
#define QUEUE_BYTES			((Size) 256 * 1024)
#define BATCH_BYTES			((Size) 64 * 1024)

/* A worker's row store: a batch and a tuple, and what the sort adds to each row. */
#define WORKER_BYTES		((size_t) 4 * 1024 * 1024)

/* Pages that a process takes at a time. */
#define CHUNK_PAGES			32

struct GpuSortParallelBuild
{
	/* fixed */
	Oid			heap;
	Oid			index;
	bool		concurrent;
	bool		unique;
	bool		by_pages;		/* not by the server's parallel scan */
	bool		has_parts;
	uint32		parts;			/* number of the shared sort */

	pg_atomic_uint32 next_page;
	pg_atomic_uint32 pages_read;

	slock_t		mutex;			/* protects what workers report: */
	int			reports;
	double		live;
	bool		broken_hot_chain;
	bool		failed;
};

PGDLLEXPORT void gpusort_index_worker(dsm_segment *segment, shm_toc *toc);

/* A worker's end of its queue, or the leader's ends of all. */
struct GpuSortIndexQueues
{
	GpuSortParallelBuild *shared;
	bool		worker;
	BlockNumber pages;			/* of the table, of which the leader reports those
								 * that were read; 0: does not */
	int			count;			/* queues; the first `count` are not detached */
	shm_mq_handle *queues[FLEXIBLE_ARRAY_MEMBER];
};

/* What the leader has to clean up. */
struct GpuSortParallelLeader
{
	ParallelContext *context;
	Snapshot	snapshot;
	GpuSortParallelBuild *shared;
	ParallelTableScanDesc scan;
	WalUsage   *wal_usage;
	BufferUsage *buffer_usage;
	GpuSortParts *parts;		/* NULL: there is no pool memory */
	GpuSortSharedSlices *slices;	/* NULL: workers can't write */
};

bool
gpusort_index_next_pages(GpuSortIndexBuild *build, BlockNumber nblocks, BlockNumber *from,
						 BlockNumber *end)
{
	if (build->queues == NULL)
		*from = *end;			/* alone: all in one, from where we are */
	else
	{
		/* nobody adds more than once behind the end, so this can't wrap */
		*from = pg_atomic_read_u32(&build->queues->shared->next_page);
		if (*from < nblocks)
			*from = pg_atomic_fetch_add_u32(&build->queues->shared->next_page, CHUNK_PAGES);
	}
	if (*from >= nblocks)
		return false;
	*end = build->queues == NULL ? nblocks : Min(nblocks - *from, CHUNK_PAGES) + *from;
	return true;
}

/* Show the pages that all have read, if that is for this process to do. */
static void
report_pages(const GpuSortIndexQueues *queues)
{
	if (queues->pages > 0)
		gpusort_progress_pages(pg_atomic_read_u32(&queues->shared->pages_read), queues->pages);
}

void
gpusort_index_count_pages(GpuSortIndexBuild *build, BlockNumber pages, BlockNumber nblocks)
{
	GpuSortIndexQueues *queues = build->queues;

	build->pages_read += pages;
	if (queues == NULL)
		gpusort_progress_pages(build->pages_read, nblocks);
	else
	{
		pg_atomic_fetch_add_u32(&queues->shared->pages_read, pages);
		queues->pages = queues->worker ? 0 : nblocks;
		report_pages(queues);
	}
}

/* Send a worker's rows; the build has failed if nobody wants them. */
static void
send_rows(GpuSortIndexBuild *build)
{
	Size		bytes;
	const void *rows = gpusort_stored_rows(build->sort, &bytes);

	if (bytes == 0 || build->failed)
		return;
	if (shm_mq_send(build->queues->queues[0], bytes, rows, false, true) != SHM_MQ_SUCCESS)
		build->failed = true;
	gpusort_reset(build->sort);
}

/* Take a batch of a worker's rows in. */
static void
put_batch(GpuSortIndexBuild *build, const char *batch, Size bytes)
{
	for (Size at = 0; at < bytes && !build->failed;)
	{
		IndexTuple	tuple = (IndexTuple) (batch + at);

		build->failed = !gpusort_put_index_tuple(build->sort, tuple);
		at += IndexTupleSize(tuple);
	}
}

/*
 * Receive from every queue what is there.  Returns whether anything was; queues
 * whose worker is done are dropped.
 */
static bool
receive_rows(GpuSortIndexBuild *build)
{
	GpuSortIndexQueues *queues = build->queues;
	bool		any = false;

	for (int i = 0; i < queues->count && !build->failed;)
	{
		Size		bytes;
		void	   *batch;

		switch (shm_mq_receive(queues->queues[i], &bytes, &batch, true))
		{
			case SHM_MQ_SUCCESS:
				put_batch(build, batch, bytes);
				any = true;
				report_pages(queues);
				break;
			case SHM_MQ_WOULD_BLOCK:
				i++;
				break;
			case SHM_MQ_DETACHED:
				queues->queues[i] = queues->queues[--queues->count];
				break;
		}
	}
	return any;
}

void
gpusort_index_exchange_rows(GpuSortIndexBuild *build)
{
	if (build->queues == NULL || build->failed)
		return;
	if (!build->queues->worker)
		receive_rows(build);
	else
	{
		Size		bytes;

		(void) gpusort_stored_rows(build->sort, &bytes);
		if (bytes >= BATCH_BYTES)
			send_rows(build);
	}
}

/* Take in what workers still have to send. */
static void
receive_rest(GpuSortIndexBuild *build)
{
	while (build->queues->count > 0 && !build->failed)
	{
		CHECK_FOR_INTERRUPTS();
		if (receive_rows(build) || build->queues->count == 0)
			continue;
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_EXIT_ON_PM_DEATH, 0, PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
	}
}

/* Read this process's part of the table. */
static double
scan_part(GpuSortIndexBuild *build, ParallelTableScanDesc parallel_scan, bool leader)
{
	if (build->queues->shared->by_pages)
		return gpusort_index_read_pages(build, leader);
	return table_index_build_scan(build->heap, build->index, build->info, true, leader,
								  gpusort_index_put_row, build,
								  table_beginscan_parallel(build->heap, parallel_scan));
}

/* The same, into a part of the shared sort, if there is one. */
static double
collect_part(GpuSortIndexBuild *build, GpuSortParts *parts, ParallelTableScanDesc parallel_scan,
			 bool leader)
{
	GpuSortSpec spec;
	const char *reason;
	double		live;

	if (parts != NULL && gpusort_index_sort_spec(build->index, &spec, &reason))
		build->part = gpusort_parts_begin_index_part(parts, build->index, &spec);
	live = scan_part(build, parallel_scan, leader);
	if (build->part != NULL)
	{
		if (!build->failed)
			gpusort_parts_finish_part(parts, build->part);
		gpusort_end(build->part);
		build->part = NULL;
	}
	return live;
}

/* Make the parallel context and its shared memory; false if there is none. */
static bool
make_shared_memory(GpuSortParallelLeader *leader, GpuSortIndexBuild *build, bool by_pages)
{
	int			workers = build->info->ii_ParallelWorkers;
	const char *query = debug_query_string != NULL ? debug_query_string : "";
	ParallelContext *context = CreateParallelContext("gpusort", "gpusort_index_worker", workers);
	shm_toc_estimator *estimator = &context->estimator;
	Size		scan_bytes = by_pages ? 1
		: table_parallelscan_estimate(build->heap, leader->snapshot);
	Size		slices_bytes = gpusort_slices_bytes(workers);

	leader->context = context;
	shm_toc_estimate_chunk(estimator, Max(slices_bytes, 1));
	shm_toc_estimate_chunk(estimator, sizeof(GpuSortParallelBuild));
	shm_toc_estimate_chunk(estimator, scan_bytes);
	shm_toc_estimate_chunk(estimator, mul_size(QUEUE_BYTES, workers));
	shm_toc_estimate_chunk(estimator, strlen(query) + 1);
	shm_toc_estimate_chunk(estimator, mul_size(sizeof(WalUsage), workers));
	shm_toc_estimate_chunk(estimator, mul_size(sizeof(BufferUsage), workers));
	shm_toc_estimate_keys(estimator, 7);
	InitializeParallelDSM(context);
	if (context->seg == NULL)
		return false;

	if (slices_bytes > 0)
	{
		leader->slices = shm_toc_allocate(context->toc, slices_bytes);
		gpusort_slices_init(leader->slices, workers);
		shm_toc_insert(context->toc, KEY_SLICES, leader->slices);
	}
	leader->shared = shm_toc_allocate(context->toc, sizeof(GpuSortParallelBuild));
	leader->scan = shm_toc_allocate(context->toc, scan_bytes);
	leader->wal_usage = shm_toc_allocate(context->toc, mul_size(sizeof(WalUsage), workers));
	leader->buffer_usage = shm_toc_allocate(context->toc, mul_size(sizeof(BufferUsage), workers));
	shm_toc_insert(context->toc, KEY_BUILD, leader->shared);
	shm_toc_insert(context->toc, KEY_SCAN, leader->scan);
	shm_toc_insert(context->toc, KEY_WAL_USAGE, leader->wal_usage);
	shm_toc_insert(context->toc, KEY_BUFFER_USAGE, leader->buffer_usage);
	shm_toc_insert(context->toc, KEY_QUERY,
				   strcpy(shm_toc_allocate(context->toc, strlen(query) + 1), query));
	return true;
}

static void
fill_shared_memory(GpuSortParallelLeader *leader, GpuSortIndexBuild *build, bool by_pages)
{
	GpuSortParallelBuild *shared = leader->shared;

	memset(shared, 0, sizeof(*shared));
	shared->heap = RelationGetRelid(build->heap);
	shared->index = RelationGetRelid(build->index);
	shared->concurrent = build->info->ii_Concurrent;
	shared->unique = build->info->ii_Unique;
	shared->by_pages = by_pages;
	leader->parts = gpusort_parts_create(build->sort, leader->context->nworkers + 1);
	shared->has_parts = leader->parts != NULL;
	if (shared->has_parts)
		shared->parts = gpusort_parts_number(leader->parts);
	pg_atomic_init_u32(&shared->next_page, 0);
	pg_atomic_init_u32(&shared->pages_read, 0);
	SpinLockInit(&shared->mutex);
	if (!by_pages)
		table_parallelscan_initialize(build->heap, leader->scan, leader->snapshot);
}

/* Make the queues and start the workers. */
static GpuSortIndexQueues *
start_workers(GpuSortParallelLeader *leader)
{
	ParallelContext *context = leader->context;
	int			workers = context->nworkers;
	char	   *space = shm_toc_allocate(context->toc, mul_size(QUEUE_BYTES, workers));
	GpuSortIndexQueues *queues = palloc0(offsetof(GpuSortIndexQueues, queues) +
										 workers * sizeof(shm_mq_handle *));
	shm_mq	  **created = palloc(workers * sizeof(shm_mq *));

	for (int i = 0; i < workers; i++)
	{
		created[i] = shm_mq_create(space + i * QUEUE_BYTES, QUEUE_BYTES);
		shm_mq_set_receiver(created[i], MyProc);
	}
	shm_toc_insert(context->toc, KEY_QUEUES, space);
	LaunchParallelWorkers(context);

	queues->shared = leader->shared;
	queues->count = context->nworkers_launched;
	for (int i = 0; i < queues->count; i++)
		queues->queues[i] = shm_mq_attach(created[i], context->seg,
										  context->worker[i].bgwhandle);
	return queues;
}

/* What the workers have read is complete; take over what they report. */
static void
finish_reading(GpuSortParallelLeader *leader, GpuSortIndexBuild *build, double *live)
{
	GpuSortParallelBuild *shared = leader->shared;
	int			reports;

	/* those who still send give up */
	for (int i = 0; i < build->queues->count; i++)
		shm_mq_detach(build->queues->queues[i]);
	report_pages(build->queues);
	build->queues = NULL;

	SpinLockAcquire(&shared->mutex);
	reports = shared->reports;
	*live += shared->live;
	build->failed |= shared->failed;
	build->info->ii_BrokenHotChain |= shared->broken_hot_chain;
	SpinLockRelease(&shared->mutex);
	if (!build->failed && reports < leader->context->nworkers_launched)
	{
		/* some worker is gone; this has the error message */
		gpusort_slices_end(build);
		WaitForParallelWorkersToFinish(leader->context);
		elog(ERROR, "a worker of an index build was lost");
	}
}

static void
end_parallel(GpuSortParallelLeader *leader)
{
	if (IsMVCCSnapshot(leader->snapshot))
		UnregisterSnapshot(leader->snapshot);
	DestroyParallelContext(leader->context);
	ExitParallelMode();
}

void
gpusort_index_end_parallel(GpuSortIndexBuild *build)
{
	GpuSortParallelLeader *leader = build->parallel;

	if (leader == NULL)
		return;
	gpusort_slices_end(build);
	WaitForParallelWorkersToFinish(leader->context);
	for (int i = 0; i < leader->context->nworkers_launched; i++)
		InstrAccumParallelQuery(&leader->buffer_usage[i], &leader->wal_usage[i]);
	end_parallel(leader);
	build->slices = NULL;
	build->parallel = NULL;
}

bool
gpusort_index_collect_parallel(GpuSortIndexBuild *build, double *live)
{
	GpuSortParallelLeader *leader = palloc0(sizeof(GpuSortParallelLeader));
	bool		by_pages = gpusort_index_can_read_pages(build);

	EnterParallelMode();
	leader->snapshot = build->info->ii_Concurrent
		? RegisterSnapshot(GetTransactionSnapshot()) : SnapshotAny;
	if (!make_shared_memory(leader, build, by_pages))
	{
		end_parallel(leader);
		return false;
	}
	fill_shared_memory(leader, build, by_pages);
	build->queues = start_workers(leader);
	if (build->queues->count == 0)
	{
		build->queues = NULL;
		gpusort_parts_dissolve(build->sort);
		end_parallel(leader);
		return false;
	}
	build->parallel = leader;
	build->workers = build->queues->count;
	if (leader->slices != NULL)
		gpusort_slices_attach(build, leader->slices, leader->context);
	*live = collect_part(build, leader->parts, leader->scan, true);
	receive_rest(build);
	finish_reading(leader, build, live);
	if (leader->parts != NULL && !build->failed)
		gpusort_parts_join(leader->parts, build->sort);
	return true;
}

/* Scan as a worker, and report. */
static void
scan_as_worker(GpuSortIndexBuild *build, ParallelTableScanDesc scan)
{
	GpuSortParallelBuild *shared = build->queues->shared;
	GpuSortParts *parts = shared->has_parts ? gpusort_parts_attach(shared->parts) : NULL;
	double		live = collect_part(build, parts, scan, false);

	send_rows(build);
	SpinLockAcquire(&shared->mutex);
	shared->reports++;
	shared->live += live;
	shared->broken_hot_chain |= build->info->ii_BrokenHotChain;
	shared->failed |= build->failed;
	SpinLockRelease(&shared->mutex);
	shm_mq_detach(build->queues->queues[0]);
}

/* Open the relations as the leader has, scan, and write what there will be. */
static void
build_as_worker(dsm_segment *segment, shm_toc *toc, GpuSortIndexQueues *queues)
{
	GpuSortParallelBuild *shared = queues->shared;
	GpuSortSharedSlices *slices = shm_toc_lookup(toc, KEY_SLICES, true);
	shm_mq_handle *notes = slices != NULL ? gpusort_slices_join(slices, segment) : NULL;
	LOCKMODE	heap_lock = shared->concurrent ? ShareUpdateExclusiveLock : ShareLock;
	LOCKMODE	index_lock = shared->concurrent ? RowExclusiveLock : AccessExclusiveLock;
	GpuSortIndexBuild build = {.queues = queues};
	GpuSortSpec no_keys = {0};

	build.heap = table_open(shared->heap, heap_lock);
	build.index = index_open(shared->index, index_lock);
	build.info = BuildIndexInfo(build.index);
	build.info->ii_Concurrent = shared->concurrent;
	build.info->ii_Unique = shared->unique;
	build.sort = gpusort_begin_index(build.index, &no_keys, WORKER_BYTES);
	if (build.sort == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory"),
				 errdetail("A worker of an index build has found no address space.")));
	scan_as_worker(&build, shm_toc_lookup(toc, KEY_SCAN, false));
	gpusort_end(build.sort);
	if (slices != NULL)
		gpusort_slices_work(slices, notes, &build);
	index_close(build.index, index_lock);
	table_close(build.heap, heap_lock);
}

void
gpusort_index_worker(dsm_segment *segment, shm_toc *toc)
{
	GpuSortIndexQueues *queues = palloc0(offsetof(GpuSortIndexQueues, queues) +
										 sizeof(shm_mq_handle *));
	char	   *space = shm_toc_lookup(toc, KEY_QUEUES, false);
	shm_mq	   *queue = (shm_mq *) (space + ParallelWorkerNumber * QUEUE_BYTES);
	WalUsage   *wal_usage = shm_toc_lookup(toc, KEY_WAL_USAGE, false);
	BufferUsage *buffer_usage = shm_toc_lookup(toc, KEY_BUFFER_USAGE, false);

	debug_query_string = shm_toc_lookup(toc, KEY_QUERY, false);
	pgstat_report_activity(STATE_RUNNING, debug_query_string);

	shm_mq_set_sender(queue, MyProc);
	queues->shared = shm_toc_lookup(toc, KEY_BUILD, false);
	queues->worker = true;
	queues->count = 1;
	queues->queues[0] = shm_mq_attach(queue, segment, NULL);

	InstrStartParallelQuery();
	build_as_worker(segment, toc, queues);
	InstrEndParallelQuery(&buffer_usage[ParallelWorkerNumber], &wal_usage[ParallelWorkerNumber]);
}
