/*
 * shared_refused.c
 *		Rows that the parts of a shared sort have refused.
 *
 * A participant that refuses rows writes them into a temporary file of its own.  All of these files
 * make up one store, which the participant that sorts reads when all have finished.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "executor/executor.h"
#include "miscadmin.h"

#include "exec/shared_refused.h"
#include "pg_compat/executor.h"
#include "sort/sort.h"

void
gpusort_begin_refused(GpuSortRefused *refused, SharedTuplestore *store, int participants,
					  SharedFileSet *files)
{
	refused->context = CurrentMemoryContext;
	if (IsParallelWorker())
		refused->rows = sts_attach(store, ParallelWorkerNumber + 1, files);
	else
		refused->rows = sts_initialize(store, participants, 0, 0, 0, files, "gpusort.refused");
}

void
gpusort_keep_refused(GpuSortRefused *refused, TupleTableSlot *row)
{
	MemoryContext old = MemoryContextSwitchTo(refused->context);
	bool		should_free;
	MinimalTuple tuple = ExecFetchSlotMinimalTuple(row, &should_free);

	sts_puttuple(refused->rows, NULL, tuple);
	if (should_free)
		pfree(tuple);
	MemoryContextSwitchTo(old);
}

void
gpusort_finish_refused(GpuSortRefused *refused)
{
	sts_end_write(refused->rows);
}

void
gpusort_put_refused(GpuSortRefused *refused, TupleDesc desc, GpuSort *sort)
{
	TupleTableSlot *slot = gpusort_make_slot(desc, &TTSOpsMinimalTuple);
	MinimalTuple tuple;

	sts_begin_parallel_scan(refused->rows);
	while ((tuple = sts_parallel_scan_next(refused->rows, NULL)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		ExecStoreMinimalTuple(tuple, slot, false);
		gpusort_put_slot(sort, slot);
	}
	sts_end_parallel_scan(refused->rows);
	ExecClearTuple(slot);
}
