/*
 * sort_workers.c
 *		Parallel workers that help one process to put its rows in order; see sort_workers.h.
 *
 * Rows that one process has, because its plan is serial or because those who collected them have gone
 * with their Gather, lie in the pool like others.  So workers of the server's own pool of parallel
 * workers can sort them; they need nothing of the query.  They are there for the engine's run only,
 * a tenth of a second or so, and starting them takes some milliseconds.
 *
 * The transaction is in parallel mode meanwhile.  On error the server ends the workers before it
 * resets memory contexts.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "optimizer/cost.h"
#include "utils/snapmgr.h"

#include "settings.h"
#include "shared_chunk.h"
#include "sort/sort_state.h"
#include "sort/sort_workers.h"
#include "sort/team_engine.h"
#include "worker_start.h"
#include "worker_usage.h"

/* What is in the shared memory. */
#define KEY_TEAM			UINT64CONST(0x4753000000000201)

PGDLLEXPORT void gpusort_sort_worker(dsm_segment *segment, shm_toc *toc);

/* Most workers that settings allow. */
static int
allowed_workers(const GpuSort *sort)
{
	bool		builds = sort->spec.kind == GPUSORT_KIND_INDEX || sort->spec.kind == GPUSORT_KIND_CLUSTER;
	int			allowed = builds ? max_parallel_maintenance_workers : max_parallel_workers_per_gather;

	if (gpusort_max_sort_workers >= 0)
		allowed = builds ? Min(allowed, gpusort_max_sort_workers) : gpusort_max_sort_workers;
	return Min(allowed, max_parallel_workers);
}

/*
 * How many workers pay.  Each gets as many rows as are worth being sorted by workers at all, and a
 * processor that no other session's sort has.  (Forced sorts are the same on every machine.)
 */
static int
wanted_workers(const GpuSort *sort)
{
	uint64		rows = sort->rows.count;
	int			workers = allowed_workers(sort);

	if (rows < (uint64) gpusort_min_sort_worker_rows)
		return 0;
	workers = (int) Min((uint64) workers, 2 * rows / gpusort_min_sort_worker_rows);
	if (!gpusort_force)
		workers = Min(workers, gpusort_processors() - 1 - (int) gpusort_pool_other_sessions());
	return Max(workers, 0);
}

/* Can this process start workers now?  A worker can't, and those who sort parts have others beside them. */
static bool
may_start_workers(const GpuSort *sort)
{
	return IsUnderPostmaster && !IsParallelWorker() && IsTransactionState() && ActiveSnapshotSet() &&
		INTERRUPTS_CAN_BE_PROCESSED() && !sort->is_part;
}

static GpuSortTeam *
start_workers(ParallelContext *context)
{
	const Size	bytes = gpusort_team_bytes();
	GpuSortTeam *team;

	gpusort_estimate_chunks(context, &bytes, 1);
	if (!gpusort_init_parallel_context(context))
		return NULL;
	team = gpusort_make_chunk(context, KEY_TEAM, bytes);
	gpusort_team_init(team, context->nworkers);
	LaunchParallelWorkers(context);
	return context->nworkers_launched > 0 ? team : NULL;
}

bool
gpusort_sort_with_workers(GpuSort *sort, const gs_sort_args *args, gs_sort_result *result)
{
	int			nworkers = wanted_workers(sort);
	ParallelContext *context;
	GpuSortTeam *team;
	bool		sorted = false;

	if (nworkers == 0 || !may_start_workers(sort) || !gpusort_team_offer(sort, args, nworkers + 1))
		return false;
	EnterParallelMode();
	context = gpusort_create_parallel_context("gpusort_sort_worker", nworkers);
	team = start_workers(context);
	if (team != NULL)
	{
		sorted = gpusort_team_run(sort, team, args, result);
		gpusort_team_dismiss(team);
		gpusort_finish_workers(context);
	}
	DestroyParallelContext(context);
	ExitParallelMode();
	return sorted;
}

void
gpusort_sort_worker(dsm_segment *segment, shm_toc *toc)
{
	gpusort_begin_worker(toc);
	gpusort_team_help(shm_toc_lookup(toc, KEY_TEAM, false));
	gpusort_end_worker(toc);
}
