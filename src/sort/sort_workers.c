/*
 * sort_workers.c
 *		Parallel workers that help one process to put its rows in order; see team_private.h.
 *
 * If one process has all rows, because its plan is serial or because the workers that collected
 * rows have gone with their Gather, these rows lie in the pool like any others.  So parallel
 * workers of the server can help sort them, and need nothing of the query.  They are there until
 * the rows are in order and verified, and starting them takes some milliseconds.
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
#include "sort/memory_private.h"
#include "sort/state_private.h"
#include "sort/team_private.h"
#include "team/workers.h"

/* Returns how many workers the settings allow. */
static int
allowed_workers(const GpuSort *sort)
{
	bool		builds = gpusort_kind_is_build(sort->spec.kind);
	int			allowed = builds ? max_parallel_maintenance_workers
		: max_parallel_workers_per_gather;

	if (gpusort_max_sort_workers >= 0)
		allowed = builds ? Min(allowed, gpusort_max_sort_workers) : gpusort_max_sort_workers;
	return Min(allowed, max_parallel_workers);
}

/*
 * Returns how many workers pay.  There must be gpusort.min_sort_worker_rows / 2 rows for each, and
 * a processor that no other session's sort has.  (If sorts are forced, they are the same on every
 * machine.)
 */
static int
wanted_workers(const GpuSort *sort, uint64 rows)
{
	int			workers = allowed_workers(sort);

	if (rows < (uint64) gpusort_min_sort_worker_rows)
		return 0;
	workers = (int) Min((uint64) workers, 2 * rows / gpusort_min_sort_worker_rows);
	if (!gpusort_force)
		workers = Min(workers, gpusort_processors() - 1 - (int) gpusort_pool_other_sessions());
	return Max(workers, 0);
}

/*
 * Returns whether this process can start workers now.  A worker can't, and a process that sorts a
 * part has others beside it that sort.
 */
static bool
may_start_workers(const GpuSort *sort)
{
	return IsUnderPostmaster && !IsParallelWorker() && IsTransactionState() &&
		ActiveSnapshotSet() && INTERRUPTS_CAN_BE_PROCESSED() && !sort->parts.is_part;
}

/* Makes a team that all of the workers are sure to help. */
static bool
fill_team(void *member, const GpuSortMember *declared, ParallelContext *context)
{
	gpusort_team_init(member, context->nworkers);
	return true;
}

/*
 * A GpuSortRangeVisitor: returns whether a range is in the pool, since workers can't map private
 * memory.
 */
static bool
is_in_pool(GpuSortRange **range, size_t bytes, void *arg)
{
	return !gpusort_range_is_private(*range);
}

static bool
can_be_mapped(GpuSort *sort)
{
	uint64		rows = sort->rows.count;

	return gpusort_pool != NULL && gpusort_visit_planes(sort, rows, is_in_pool, NULL) &&
		gpusort_visit_workspace(sort, rows, is_in_pool, NULL);
}

bool
gpusort_start_sort_workers(GpuSort *sort, uint64 rows)
{
	const GpuSortMember member = {gpusort_team_bytes(), fill_team};
	int			nworkers = wanted_workers(sort, rows);

	if (nworkers == 0 || sort->team.not_started || !may_start_workers(sort) ||
		!can_be_mapped(sort))
		return false;
	sort->team.workers = gpusort_workers_start("gpusort_sort_worker", nworkers, &member, 1);
	if (sort->team.workers != NULL)
		gpusort_use_team(sort, gpusort_member(sort->team.workers->toc, 0), nworkers + 1);
	else
		sort->team.not_started = true;
	return sort->team.workers != NULL;
}

void
gpusort_end_sort_workers(GpuSort *sort)
{
	sort->team.not_started = false;
	if (sort->team.workers == NULL)
		return;
	gpusort_team_dismiss(sort->team.team);
	gpusort_use_team(sort, NULL, 0);
	gpusort_workers_finish(sort->team.workers);
	gpusort_workers_end(sort->team.workers);
	sort->team.workers = NULL;
}
