/*
 * calibrate_workers.c
 *		Timing parallel workers that have nothing to do.
 */
#include "postgres.h"

#include <math.h>

#include "access/parallel.h"
#include "access/xact.h"
#include "optimizer/cost.h"
#include "portability/instr_time.h"
#include "storage/dsm.h"

#include "cost/calibrate.h"
#include "elapsed.h"

PGDLLEXPORT void gpusort_idle_worker(dsm_segment *segment, shm_toc *toc);

void
gpusort_idle_worker(dsm_segment *segment, shm_toc *toc)
{
}

/* Nanoseconds from the first worker's start to the last one's end; NAN: there was none. */
static double
start_and_end(int workers)
{
	ParallelContext *context;
	instr_time	start;
	instr_time	elapsed;
	bool		launched;

	INSTR_TIME_SET_CURRENT(start);
	EnterParallelMode();
	context = CreateParallelContext("gpusort", "gpusort_idle_worker", workers);
	InitializeParallelDSM(context);
	LaunchParallelWorkers(context);
	launched = context->nworkers_launched == workers;
	WaitForParallelWorkersToFinish(context);
	DestroyParallelContext(context);
	ExitParallelMode();
	elapsed = gpusort_elapsed(start);
	return launched ? INSTR_TIME_GET_DOUBLE(elapsed) * 1e9 : NAN;
}

double
calibrate_workers(int repeat)
{
	double		least = NAN;

	for (int i = 0; i < repeat && max_parallel_workers_per_gather > 0; i++)
		least = fmin(least, start_and_end(max_parallel_workers_per_gather));
	return least;
}
