/*
 * worker_fault.h
 *		Faults that tests provoke in the participants of a job (gpusort.inject_fault).
 */
#ifndef GPUSORT_WORKER_FAULT_H
#define GPUSORT_WORKER_FAULT_H

#include "settings.h"

/*
 * Called by a participant before it does a part of its work, which is named `part`.  Depending on
 * the setting, a worker raises an error or exits without reporting one; otherwise the participant
 * sleeps for a while.  If gpusort.inject_fault_at is set, only the parts named there are concerned.
 */
extern void gpusort_worker_do_fault(const char *part);

static inline void
gpusort_worker_fault(const char *part)
{
	if (unlikely(gpusort_inject_fault >= GPUSORT_FAULT_SLOW_SLICES))
		gpusort_worker_do_fault(part);
}

#endif							/* GPUSORT_WORKER_FAULT_H */
