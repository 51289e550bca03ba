/*
 * load_try.h
 *		Doing in a subtransaction what may fail because of a row.
 */
#ifndef GPUSORT_LOAD_TRY_H
#define GPUSORT_LOAD_TRY_H

#include "utils/elog.h"

/*
 * Calls do_it(arg) in a subtransaction of its own, and in the caller's memory context.  Returns
 * NULL if that has succeeded.  If an error is raised, all is undone, and is_expected() tells, while
 * the error is the current one, what becomes of it: an expected error is returned, allocated in
 * error_context, and any other is raised again.  The caller's memory context and resource owner are
 * current again afterwards.
 */
extern ErrorData *gpusort_load_try(void (*do_it) (void *arg), void *arg, bool (*is_expected) (void),
								   MemoryContext error_context);

#endif							/* GPUSORT_LOAD_TRY_H */
