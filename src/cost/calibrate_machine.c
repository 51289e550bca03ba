/*
 * calibrate_machine.c
 *		Timing what sorts are compared with, and what they need: counting rows, touching
 *		memory, starting parallel workers.
 */
#include "postgres.h"

#include <float.h>
#include <math.h>
#include <sys/mman.h>

#include "access/parallel.h"
#include "access/xact.h"
#include "executor/spi.h"
#include "optimizer/cost.h"
#include "portability/instr_time.h"
#include "storage/dsm.h"

#include "cost/calibrate_machine.h"
#include "elapsed.h"
#include "worker_start.h"
#include "worker_wait.h"

/* The bytes of memory that are touched, and the size of a page. */
#define FRESH_BYTES		((size_t) 32 << 20)
#define PAGE_BYTES		4096

PGDLLEXPORT void gpusort_idle_worker(dsm_segment *segment, shm_toc *toc);

/* Returns the nanoseconds since `start`. */
static double
elapsed_ns(instr_time start)
{
	return INSTR_TIME_GET_DOUBLE(gpusort_elapsed(start)) * 1e9;
}

double
gpusort_time_scan(int repeat)
{
	SPIPlanPtr	plan;
	double		least = DBL_MAX;
	uint64		rows = 0;

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	/* No index has this column, so the table is scanned. */
	plan = SPI_prepare("SELECT pg_catalog.count(proowner) FROM pg_catalog.pg_proc", 0, NULL);
	for (int i = 0; plan != NULL && i < repeat; i++)
	{
		instr_time	start;
		double		ns;
		bool		isnull;

		INSTR_TIME_SET_CURRENT(start);
		if (SPI_execute_plan(plan, NULL, NULL, true, 0) != SPI_OK_SELECT || SPI_processed != 1)
			elog(ERROR, "SPI_execute_plan failed");
		ns = elapsed_ns(start);
		least = Min(least, ns);
		rows = DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1,
										   &isnull));
	}
	SPI_finish();
	return least / Max(rows, 1);
}

double
gpusort_time_fresh_memory(void)
{
	char	   *memory = mmap(NULL, FRESH_BYTES, PROT_READ | PROT_WRITE,
							  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	instr_time	start;
	double		ns;

	if (memory == MAP_FAILED)
		return 0;
	INSTR_TIME_SET_CURRENT(start);
	for (size_t i = 0; i < FRESH_BYTES; i += PAGE_BYTES)
		((volatile char *) memory)[i] = 1;
	ns = elapsed_ns(start);
	munmap(memory, FRESH_BYTES);
	return ns / FRESH_BYTES;
}

void
gpusort_idle_worker(dsm_segment *segment, shm_toc *toc)
{
}

/*
 * Returns the nanoseconds from the start of the first worker to the end of the last, or NAN if not
 * all were launched.
 */
static double
start_and_end(int workers)
{
	ParallelContext *context;
	instr_time	start;
	double		ns;
	bool		launched;

	INSTR_TIME_SET_CURRENT(start);
	EnterParallelMode();
	context = gpusort_create_parallel_context("gpusort_idle_worker", workers);
	launched = gpusort_init_parallel_context(context);
	if (launched)
	{
		LaunchParallelWorkers(context);
		launched = context->nworkers_launched == workers;
		gpusort_worker_await_end(context);
	}
	DestroyParallelContext(context);
	ExitParallelMode();
	ns = elapsed_ns(start);
	return launched ? ns : NAN;
}

double
gpusort_time_workers(int repeat)
{
	double		least = NAN;

	for (int i = 0; i < repeat && max_parallel_workers_per_gather > 0; i++)
		least = fmin(least, start_and_end(max_parallel_workers_per_gather));
	return least;
}
