/*
 * index_fault.c
 *		Where tests can have index builds stand still; see index_fault.h.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/lock.h"

#include "index/index_fault.h"
#include "settings.h"

/* Where inject_fault = pause waits for the advisory lock (class, place). */
#define PAUSE_LOCK_CLASS	4753

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
