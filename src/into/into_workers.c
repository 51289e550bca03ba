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
#include "team/workers.h"

/* Members of the shared memory. */
enum
{
	MEMBER_TASK,
	MEMBER_DESC,
	MEMBER_VIEW,
	MEMBER_COLUMNS,
	MEMBERS
};

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

	ParallelContext *context;	/* NULL if there are no workers */
} IntoLeader;

PGDLLEXPORT void gpusort_into_worker(dsm_segment *segment, shm_toc *toc);

/* ---------- the leader ---------- */

static bool
fill_task(void *member, const GpuSortMember *declared, ParallelContext *context)
{
	const IntoLeader *leader = declared->from;

	gpusort_into_init_task(member, leader->target, &leader->slices, leader->rows->all_columns);
	return true;
}

static void
start_workers(IntoLeader *leader, int nworkers)
{
	const GpuSortMember members[MEMBERS] = {
		[MEMBER_TASK] = {sizeof(GpuSortIntoTask), fill_task, leader},
		[MEMBER_DESC] = gpusort_member_of_desc(leader->rows->desc),
		[MEMBER_VIEW] = gpusort_view_member(leader->rows->sort),
		[MEMBER_COLUMNS] = gpusort_member_of_bytes(strlen(leader->columns) + 1, leader->columns)
	};

	leader->context = gpusort_workers_start("gpusort_into_worker", nworkers, members, MEMBERS);
}

/*
 * Puts all rows.  If there are workers, they take part; if not, the leader has a task of its own.
 */
static void
put_rows(IntoLeader *leader)
{
	ParallelContext *context = leader->context;
	GpuSortIntoTask own;
	GpuSortIntoTask *task = &own;
	GpuSortIntoSlices slices;
	GpuSortView view;

	if (context != NULL)
		task = gpusort_member(context->toc, MEMBER_TASK);
	else
		gpusort_into_init_task(&own, leader->target, &leader->slices, leader->rows->all_columns);
	gpusort_view(leader->rows->sort, &view);
	gpusort_into_begin_slices(&slices, task, leader->target, leader->storage, &view,
							  leader->rows->desc);
	if (context != NULL)
		gpusort_into_share(&slices);
	gpusort_into_put_slices(&slices);
	if (context != NULL)
		gpusort_workers_finish(context);
	gpusort_into_end_slices(&slices);
	ereport(DEBUG1,
			(errmsg_internal("gpusort filled table \"%s\" with %d parallel workers, %llu of %llu rows by the leader",
							 RelationGetRelationName(leader->target->table),
							 context != NULL ? context->nworkers_launched : 0,
							 (unsigned long long) slices.rows,
							 (unsigned long long) (leader->slices.to - leader->slices.from))));
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
		start_workers(&leader, nworkers);
	put_rows(&leader);
	if (leader.context != NULL)
		gpusort_workers_end(leader.context);
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
	TupleDesc	desc = CreateTupleDescCopy(gpusort_member(toc, MEMBER_DESC));
	GpuSortViewMapping mapping;
	GpuSortView view;

	gpusort_begin_worker(toc);
	if (gpusort_attach_view(gpusort_member(toc, MEMBER_VIEW), &view, &mapping))
	{
		put_slices(gpusort_member(toc, MEMBER_TASK), gpusort_member(toc, MEMBER_COLUMNS),
				   &view, desc);
		gpusort_detach_view(&mapping);
	}
	gpusort_end_worker(toc);
}
