/*
 * worker_fault.c
 *		Faults that tests provoke in the participants of a job; see worker_fault.h.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "storage/dsm.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "utils/wait_event.h"

#include "team/worker_fault.h"

/* How long a part takes at least if a fault makes it slow. */
#define SLOW_PART_MS		100

/*
 * A worker that exits without reporting an error signals its leader to look at the worker's message
 * queue, and then detaches from that queue (worker_wait.h).  Between the two it sleeps this long,
 * so that the leader finds nothing in the queue.
 */
#define SLOW_END_US			(200 * 1000)

static void
end_slowly(dsm_segment *segment, Datum arg)
{
	pg_usleep(SLOW_END_US);
}

/*
 * Exits without reporting an error, and slowly.  The callback that was registered last is called
 * first, so end_slowly() runs before the server's own callback detaches from the queue.
 */
static void
end_without_word(void)
{
	dsm_segment *segment = dsm_find_mapping(DatumGetUInt32(MyBgworkerEntry->bgw_main_arg));

	on_dsm_detach(segment, end_slowly, (Datum) 0);
	proc_exit(0);
}

void
gpusort_worker_do_fault(const char *part)
{
	if (gpusort_inject_fault_at[0] != '\0' && strstr(gpusort_inject_fault_at, part) == NULL)
		return;
	if (IsParallelWorker() && gpusort_inject_fault == GPUSORT_FAULT_WORKER_ERROR)
		elog(ERROR, "injected error in %s", part);
	if (IsParallelWorker() && gpusort_inject_fault == GPUSORT_FAULT_WORKER_EXIT)
		end_without_word();
	/*
	 * does not wait for the process's latch, since resetting it could lose an event that a caller
	 * waits for
	 */
	(void) WaitLatch(NULL, WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, SLOW_PART_MS, PG_WAIT_EXTENSION);
	CHECK_FOR_INTERRUPTS();
}
