/*
 * portion_workers.c
 *		Parallel workers that load portions of a spilled sort; see exec_private.h.
 *
 * If the query fails, the server ends the workers before it resets memory contexts.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/xact.h"

#include "exec/exec_private.h"
#include "sort/sort_parts.h"
#include "team/workers.h"

/* Members of the shared memory. */
enum
{
	MEMBER_TASK,
	MEMBER_CREW,
	MEMBER_DESC,
	MEMBERS
};

/* What is sorted, and the sort key.  Fixed when workers are started. */
typedef struct SharedTask
{
	GpuSortKind kind;
	int			nkeys;
	AttrNumber	attnos[GPUSORT_MAX_KEYS];
	Oid			sortops[GPUSORT_MAX_KEYS];
	Oid			collations[GPUSORT_MAX_KEYS];
	bool		nulls_first[GPUSORT_MAX_KEYS];
} SharedTask;

struct GpuSortPortionWorkers
{
	GpuSort    *sort;
	ParallelContext *context;
};

PGDLLEXPORT void gpusort_portion_worker(dsm_segment *segment, shm_toc *toc);

/* ---------- the leader ---------- */

static void
fill_task(SharedTask *task, const GpuSortSpec *spec)
{
	task->kind = spec->kind;
	task->nkeys = spec->nkeys;
	memcpy(task->attnos, spec->attnos, spec->nkeys * sizeof(AttrNumber));
	memcpy(task->sortops, spec->sortops, spec->nkeys * sizeof(Oid));
	memcpy(task->collations, spec->collations, spec->nkeys * sizeof(Oid));
	memcpy(task->nulls_first, spec->nulls_first, spec->nkeys * sizeof(bool));
}

/* Makes a crew for the sort at `from`. */
static bool
fill_crew(void *member, const GpuSortMember *declared, ParallelContext *context)
{
	return gpusort_crew_init(member, context->nworkers, declared->from);
}

GpuSortPortionWorkers *
gpusort_begin_portion_workers(GpuSort *sort, TupleDesc desc, const GpuSortSpec *spec)
{
	int			nworkers = gpusort_portion_workers(sort);
	GpuSortPortionWorkers *workers;
	ParallelContext *context;
	SharedTask	task;
	const GpuSortMember members[MEMBERS] = {
		[MEMBER_TASK] = gpusort_member_of_bytes(sizeof(task), &task),
		[MEMBER_CREW] = {gpusort_crew_bytes(nworkers), fill_crew, sort},
		[MEMBER_DESC] = gpusort_member_of_desc(desc)
	};

	if (nworkers == 0 || !IsInParallelMode() || IsParallelWorker())
		return NULL;
	fill_task(&task, spec);
	context = gpusort_workers_start("gpusort_portion_worker", nworkers, members, MEMBERS);
	if (context == NULL)
		return NULL;
	gpusort_crew_begin(gpusort_member(context->toc, MEMBER_CREW), sort);
	workers = palloc(sizeof(GpuSortPortionWorkers));
	workers->sort = sort;
	workers->context = context;
	return workers;
}

void
gpusort_end_portion_workers(GpuSortPortionWorkers *workers)
{
	gpusort_crew_stop(workers->sort);
	gpusort_workers_finish(workers->context);
	gpusort_workers_end(workers->context);
	pfree(workers);
}

/* ---------- a worker ---------- */

void
gpusort_portion_worker(dsm_segment *segment, shm_toc *toc)
{
	SharedTask *task = gpusort_member(toc, MEMBER_TASK);
	GpuSortPortionCrew *crew = gpusort_member(toc, MEMBER_CREW);
	TupleDesc	desc = CreateTupleDescCopy(gpusort_member(toc, MEMBER_DESC));
	GpuSortSpec spec = {
		.kind = task->kind,
		.nkeys = task->nkeys,
		.attnos = task->attnos,
		.sortops = task->sortops,
		.collations = task->collations,
		.nulls_first = task->nulls_first
	};
	GpuSort    *part;

	gpusort_begin_worker(toc);
	part = gpusort_parts_begin_part(gpusort_crew_parts(crew), desc, &spec);
	if (part != NULL)
	{
		gpusort_crew_load(crew, ParallelWorkerNumber, part);
		gpusort_end(part);
	}
	gpusort_end_worker(toc);
}
