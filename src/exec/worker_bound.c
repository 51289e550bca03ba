/*
 * worker_bound.c
 *		How many rows a worker is told to return to its Gather; see worker_bound.h.
 *
 * A Limit above a Gather or Gather Merge tells it how many rows it will take
 * (ExecSetTupleBound), and so do these their workers: to sort for so many, and to end after so
 * many.  If the Limit wants more when it is rescanned, PostgreSQL tells the workers the old number
 * still (ExecParallelReinitialize), and their further rows are missing.  The plans that we make
 * parallel, which may not be so without us, must not have that: their workers go on until the
 * Gather, which knows the new number, takes no more.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "executor/executor.h"
#include "tcop/dest.h"

#include "exec/worker_bound.h"

/* A worker works for one Gather as long as it lives. */
static bool bound_is_old = false;

void
gpusort_worker_bound_is_old(void)
{
	Assert(IsParallelWorker());
	bound_is_old = true;
}

uint64
gpusort_rows_to_run_for(QueryDesc *query, uint64 count)
{
	/* functions run queries of their own, which don't return to the Gather */
	if (!bound_is_old || query->dest->mydest != DestTupleQueue)
		return count;
	ExecSetTupleBound(-1, query->planstate);
	return 0;
}
