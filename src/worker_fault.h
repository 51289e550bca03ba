/*
 * worker_fault.h
 *		What tests have go wrong in the participants of a job (gpusort.inject_fault).
 */
#ifndef GPUSORT_WORKER_FAULT_H
#define GPUSORT_WORKER_FAULT_H

#include "settings.h"

/*
 * By a participant, before it does a part of the work: a worker fails, or ends without a word, and
 * others take their time.  gpusort.inject_fault_at names some parts only.
 */
extern void gpusort_worker_do_fault(const char *part);

static inline void
gpusort_worker_fault(const char *part)
{
	if (unlikely(gpusort_inject_fault >= GPUSORT_FAULT_SLOW_SLICES))
		gpusort_worker_do_fault(part);
}

#endif							/* GPUSORT_WORKER_FAULT_H */
