/*
 * index_fault.c
 *		Places where tests can make an index build pause; see index_fault.h.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/lock.h"

#include "index/index_fault.h"
#include "settings.h"

/* First key of the advisory locks that inject_fault = pause waits for; the second is the place. */
#define PAUSE_LOCK_CLASS	4753

void
gpusort_fault_pause(GpuSortPausePlace place)
{
	LOCKTAG		lock;

	if (likely(gpusort_inject_fault != GPUSORT_FAULT_PAUSE))
		return;
	/* pg_advisory_lock_shared_int4() would refuse while there are workers, so take the lock here */
	SET_LOCKTAG_ADVISORY(lock, MyDatabaseId, PAUSE_LOCK_CLASS, place, 2);
	(void) LockAcquire(&lock, ShareLock, false, false);
	LockRelease(&lock, ShareLock, false);
}
