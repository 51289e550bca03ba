/*
 * shared_refused.c
 *		Rows that the parts of a shared sort have refused.
 *
 * Each participant writes its own into a temporary file, if there are any, in a store
 * that the participant who sorts reads when all have finished.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "executor/executor.h"
#include "miscadmin.h"

#include "exec/exec_shared.h"
#include "sort/sort_put.h"

void
gpusort_begin_refused(GpuSortSharedState *node, SharedTuplestore *store, MemoryContext context)
{
	SharedFileSet *files = &node->shared->files;
	MemoryContext old = MemoryContextSwitchTo(context);

	if (IsParallelWorker())
		node->refused = sts_attach(store, ParallelWorkerNumber + 1, files);
	else
		node->refused = sts_initialize(store, node->shared->participants, 0, 0, 0, files,
									   "gpusort.refused");
	MemoryContextSwitchTo(old);
}

void
gpusort_keep_refused(GpuSortSharedState *node, TupleTableSlot *row)
{
	MemoryContext old = MemoryContextSwitchTo(node->result_context);
	bool		should_free;
	MinimalTuple tuple = ExecFetchSlotMinimalTuple(row, &should_free);

	sts_puttuple(node->refused, NULL, tuple);
	if (should_free)
		pfree(tuple);
	MemoryContextSwitchTo(old);
}

void
gpusort_finish_refused(GpuSortSharedState *node)
{
	sts_end_write(node->refused);
}

void
gpusort_put_refused(GpuSortSharedState *node, GpuSort *sort)
{
	TupleTableSlot *slot = MakeTupleTableSlot(ExecGetResultType(outerPlanState(node)),
											  &TTSOpsMinimalTuple);
	MinimalTuple tuple;

	sts_begin_parallel_scan(node->refused);
	while ((tuple = sts_parallel_scan_next(node->refused, NULL)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		ExecStoreMinimalTuple(tuple, slot, false);
		gpusort_put_slot(sort, slot);
	}
	sts_end_parallel_scan(node->refused);
	ExecClearTuple(slot);
}
