/*
 * worker_bound.c
 *		How many rows a worker is told to return to its Gather; see worker_bound.h.
 *
 * A Limit above a Gather or Gather Merge tells that node how many rows it will take
 * (ExecSetTupleBound), and the node tells its workers: to sort only that many rows, and to end
 * after so many.  If the Limit wants more when it is rescanned, PostgreSQL still tells the workers
 * the old number (ExecParallelReinitialize), and rows are missing.  A plan that is parallel only
 * because of us must not have that bug: its workers go on until the Gather, which knows the new
 * number, takes no more.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "executor/executor.h"
#include "tcop/dest.h"

#include "exec/worker_bound.h"

/* A process-wide flag is enough, since a worker works for one Gather as long as it lives. */
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
	/* queries that functions run don't return their rows to the Gather */
	if (!bound_is_old || query->dest->mydest != DestTupleQueue)
		return count;
	ExecSetTupleBound(-1, query->planstate);
	return 0;
}
