/*
 * into_workers.c
 *		Having a sorted result put into a table, by parallel workers if there are any; see
 *		into_private.h.
 *
 * After an error, the server ends the workers before it resets memory contexts.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/catalog.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "pgstat.h"
#include "utils/rel.h"

#include "into/into_private.h"
#include "pg_compat/copy.h"
#include "settings.h"
#include "sort/sort.h"
#include "sort/sort_view.h"
#include "team/shared_chunk.h"
#include "team/worker_start.h"
#include "team/worker_usage.h"

/* Keys of what is in the shared memory. */
#define KEY_TASK			UINT64CONST(0x4753000000000301)
#define KEY_DESC			UINT64CONST(0x4753000000000302)
#define KEY_VIEW			UINT64CONST(0x4753000000000303)
#define KEY_COLUMNS			UINT64CONST(0x4753000000000307)

/* Rows of fewer bytes are not worth it. */
#define FEW_BYTES	(256 * 1024)

/*
 * A slice has so many pages because half a page of each stays empty, as a rule.  There is one
 * worker for so many bytes because a worker takes a millisecond or two to start, in which some MB
 * are copied.
 */
#define SLICE_PAGES			128
#define WORKER_BYTES		(8 * 1024 * 1024)

typedef struct IntoLeader
{
	const GpuSortIntoTarget *target;
	const GpuSortReturned *rows;
	GpuSortSlices slices;
	const char *columns;		/* the target's columns, as text */
	GpuSortStorage *storage;	/* begun before anybody writes, to notice checkpoints */

	/* used if there are workers */
	ParallelContext *context;
	GpuSortIntoTask *task;
} IntoLeader;

PGDLLEXPORT void gpusort_into_worker(dsm_segment *segment, shm_toc *toc);

/* ---------- the leader ---------- */

static void
init_task(IntoLeader *leader, GpuSortIntoTask *task)
{
	gpusort_into_init_task(task, leader->target, &leader->slices, leader->rows->all_columns);
}

/*
 * Makes what the workers need.  Returns false if there is no shared memory, or if other processes
 * can't map the rows.
 */
static bool
make_shared_memory(IntoLeader *leader)
{
	ParallelContext *context = leader->context;
	const Size	bytes[] = {
		sizeof(GpuSortIntoTask), TupleDescSize(leader->rows->desc), gpusort_view_shared_bytes(),
		strlen(leader->columns) + 1
	};

	gpusort_estimate_chunks(context, bytes, lengthof(bytes));
	if (!gpusort_init_parallel_context(context))
		return false;
	leader->task = gpusort_make_chunk(context, KEY_TASK, bytes[0]);
	init_task(leader, leader->task);
	TupleDescCopy(gpusort_make_chunk(context, KEY_DESC, bytes[1]), leader->rows->desc);
	if (!gpusort_publish_view(leader->rows->sort, gpusort_make_chunk(context, KEY_VIEW, bytes[2])))
		return false;
	strcpy(gpusort_make_chunk(context, KEY_COLUMNS, bytes[3]), leader->columns);
	return true;
}

static bool
launch_workers(IntoLeader *leader)
{
	if (!make_shared_memory(leader))
		return false;
	LaunchParallelWorkers(leader->context);
	return leader->context->nworkers_launched > 0;
}

static void
end_workers(IntoLeader *leader)
{
	ParallelContext *context = leader->context;

	gpusort_finish_workers(context);
}

/*
 * Puts all rows.  If workers were launched, they take part; if not, the leader has a task of its
 * own.
 */
static void
put_rows(IntoLeader *leader, bool launched)
{
	GpuSortIntoTask own;
	GpuSortIntoSlices slices;
	GpuSortView view;

	if (!launched)
		init_task(leader, &own);
	gpusort_view(leader->rows->sort, &view);
	gpusort_into_begin_slices(&slices, launched ? leader->task : &own, leader->target,
							  leader->storage, &view, leader->rows->desc);
	if (launched)
		gpusort_into_share(&slices);
	gpusort_into_put_slices(&slices);
	if (launched)
		end_workers(leader);
	gpusort_into_end_slices(&slices);
	ereport(DEBUG1,
			(errmsg_internal("gpusort filled table \"%s\" with %d parallel workers, %llu of %llu rows by the leader",
							 RelationGetRelationName(leader->target->table),
							 launched ? leader->context->nworkers_launched : 0,
							 (unsigned long long) slices.rows,
							 (unsigned long long) (leader->slices.to - leader->slices.from))));
}

static void
put_with_workers(IntoLeader *leader, int nworkers)
{
	bool		launched;

	EnterParallelMode();
	leader->context = gpusort_create_parallel_context("gpusort_into_worker", nworkers);
	launched = launch_workers(leader);
	if (launched)
		put_rows(leader, true);
	DestroyParallelContext(leader->context);
	ExitParallelMode();
	if (!launched)
		put_rows(leader, false);
}

bool
gpusort_into_are_few(const GpuSortReturned *rows)
{
	return !gpusort_force && gpusort_row_bytes(rows->sort) * (rows->to - rows->from) < FEW_BYTES;
}

/*
 * Returns whether workers may put rows.  No worker can see temporary tables.  If the table is in
 * use, what workers log does not say which subtransaction it is part of, nor from where it was
 * replicated.
 */
static bool
workers_may_put(const GpuSortIntoTarget *target)
{
	if (target->by_leader || RelationUsesLocalBuffers(target->table) || IsParallelWorker() ||
		!IsUnderPostmaster)
		return false;
	return !target->in_use ||
		(!gpusort_has_replication_origin() &&
		 !(RelationIsLogicallyLogged(target->table) && IsSubTransaction()));
}

/* Returns how many workers are wanted for this many bytes. */
static int
choose_workers(const IntoLeader *leader, double bytes, double slice_bytes)
{
	double		most = bytes / (gpusort_force ? slice_bytes : WORKER_BYTES);

	if (!workers_may_put(leader->target))
		return 0;
	return (int) Min(max_parallel_workers_per_gather, most);
}

void
gpusort_into_write(const GpuSortIntoTarget *target, const GpuSortReturned *rows)
{
	Size		row_bytes = Max(gpusort_row_bytes(rows->sort), 1);
	double		slice_bytes = (double) BLCKSZ * Min(SLICE_PAGES, gpusort_slice_pages);
	IntoLeader	leader = {
		.target = target, .rows = rows,
		.columns = target->columns == NIL ? "" : nodeToString(target->columns),
		.storage = target->in_use ? NULL : gpusort_storage_begin(target->table),
		.slices = {
			.from = rows->from, .to = rows->to, .step = Max((uint64) slice_bytes / row_bytes, 1)
		}
	};
	int			nworkers = choose_workers(&leader, (double) row_bytes * (rows->to - rows->from),
										  slice_bytes);

	if (nworkers > 0)
		put_with_workers(&leader, nworkers);
	else
		put_rows(&leader, false);
	pgstat_count_heap_insert(target->table, rows->to - rows->from);
}

/* ---------- a worker ---------- */

static void
put_slices(GpuSortIntoTask *task, const char *columns, const GpuSortView *view, TupleDesc desc)
{
	GpuSortIntoTarget target = {
		.table = table_open(task->table, RowExclusiveLock), .owner = task->owner,
		.in_use = task->in_use, .checked = task->checked,
		.columns = columns[0] == '\0' ? NIL : stringToNode(columns), .estate = CreateExecutorState()
	};
	GpuSortStorage *storage = task->in_use ? NULL : gpusort_storage_begin(target.table);
	GpuSortIntoSlices slices;

	gpusort_into_begin_slices(&slices, task, &target, storage, view, desc);
	gpusort_into_share(&slices);
	gpusort_into_put_slices(&slices);
	gpusort_into_end_slices(&slices);
	table_close(target.table, NoLock);
}

void
gpusort_into_worker(dsm_segment *segment, shm_toc *toc)
{
	TupleDesc	desc = CreateTupleDescCopy(shm_toc_lookup(toc, KEY_DESC, false));
	GpuSortViewMapping mapping;
	GpuSortView view;

	gpusort_begin_worker(toc);
	if (gpusort_attach_view(shm_toc_lookup(toc, KEY_VIEW, false), &view, &mapping))
	{
		put_slices(shm_toc_lookup(toc, KEY_TASK, false), shm_toc_lookup(toc, KEY_COLUMNS, false),
				   &view, desc);
		gpusort_detach_view(&mapping);
	}
	gpusort_end_worker(toc);
}
