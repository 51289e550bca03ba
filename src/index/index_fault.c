/*
 * index_fault.c
 *		What tests can have go wrong, or stand still, in index builds; see
 *		index_fault.h.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/lock.h"
#include "utils/wait_event.h"

#include "index/index_fault.h"
#include "settings.h"

/* Where inject_fault = pause waits for the advisory lock (class, place). */
#define PAUSE_LOCK_CLASS	4753

/* How long a part takes at least that a fault makes slow. */
#define SLOW_PART_MS		100

void
gpusort_fault_pause(GpuSortPausePlace place)
{
	LOCKTAG		lock;

	if (likely(gpusort_inject_fault != GPUSORT_FAULT_PAUSE))
		return;
	/* not by the function, which refuses to while there are workers */
	SET_LOCKTAG_ADVISORY(lock, MyDatabaseId, PAUSE_LOCK_CLASS, place, 2);
	(void) LockAcquire(&lock, ShareLock, false, false);
	LockRelease(&lock, ShareLock, false);
}

void
gpusort_fault_in_part(const char *part)
{
	if (gpusort_inject_fault < GPUSORT_FAULT_SLOW_SLICES)
		return;
	if (IsParallelWorker() && gpusort_inject_fault == GPUSORT_FAULT_WORKER_ERROR)
		elog(ERROR, "injected error in %s of an index", part);
	if (IsParallelWorker() && gpusort_inject_fault == GPUSORT_FAULT_WORKER_EXIT)
		proc_exit(0);
	(void) WaitLatch(NULL, WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, SLOW_PART_MS, PG_WAIT_EXTENSION);
	CHECK_FOR_INTERRUPTS();
}
