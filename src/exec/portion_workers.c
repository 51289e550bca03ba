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
#include "team/shared_chunk.h"
#include "team/worker_start.h"
#include "team/worker_usage.h"

/* Keys of the chunks of shared memory. */
#define KEY_TASK			UINT64CONST(0x4753000000000101)
#define KEY_CREW			UINT64CONST(0x4753000000000102)
#define KEY_DESC			UINT64CONST(0x4753000000000103)

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

/* Creates and fills the shared memory for the workers.  Returns NULL if there is none to be had. */
static GpuSortPortionCrew *
make_shared_memory(GpuSortPortionWorkers *workers, TupleDesc desc, const GpuSortSpec *spec)
{
	ParallelContext *context = workers->context;
	int			nworkers = context->nworkers;
	const Size	bytes[] = {
		sizeof(SharedTask), gpusort_crew_bytes(nworkers), TupleDescSize(desc)
	};
	GpuSortPortionCrew *crew;

	gpusort_estimate_chunks(context, bytes, lengthof(bytes));
	if (!gpusort_init_parallel_context(context))
		return NULL;
	fill_task(gpusort_make_chunk(context, KEY_TASK, bytes[0]), spec);
	crew = gpusort_make_chunk(context, KEY_CREW, bytes[1]);
	gpusort_crew_init(crew, nworkers);
	TupleDescCopy(gpusort_make_chunk(context, KEY_DESC, bytes[2]), desc);
	return crew;
}

GpuSortPortionWorkers *
gpusort_begin_portion_workers(GpuSort *sort, TupleDesc desc, const GpuSortSpec *spec)
{
	int			nworkers = gpusort_portion_workers(sort);
	GpuSortPortionWorkers *workers;
	GpuSortPortionCrew *crew;

	if (nworkers == 0 || !IsInParallelMode() || IsParallelWorker())
		return NULL;
	workers = palloc0(sizeof(GpuSortPortionWorkers));
	workers->sort = sort;
	workers->context = gpusort_create_parallel_context("gpusort_portion_worker", nworkers);
	crew = make_shared_memory(workers, desc, spec);
	if (crew != NULL && gpusort_crew_begin(crew, sort))
	{
		LaunchParallelWorkers(workers->context);
		if (workers->context->nworkers_launched > 0)
			return workers;
		gpusort_crew_stop(sort);
	}
	DestroyParallelContext(workers->context);
	pfree(workers);
	return NULL;
}

void
gpusort_end_portion_workers(GpuSortPortionWorkers *workers)
{
	gpusort_crew_stop(workers->sort);
	gpusort_finish_workers(workers->context);
	DestroyParallelContext(workers->context);
	pfree(workers);
}

/* ---------- a worker ---------- */

void
gpusort_portion_worker(dsm_segment *segment, shm_toc *toc)
{
	SharedTask *task = shm_toc_lookup(toc, KEY_TASK, false);
	GpuSortPortionCrew *crew = shm_toc_lookup(toc, KEY_CREW, false);
	TupleDesc	desc = CreateTupleDescCopy(shm_toc_lookup(toc, KEY_DESC, false));
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
