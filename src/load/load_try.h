/*
 * load_try.h
 *		Doing what a row may be in the way of, in a subtransaction.
 */
#ifndef GPUSORT_LOAD_TRY_H
#define GPUSORT_LOAD_TRY_H

#include "utils/elog.h"

/*
 * Call do_it(arg) in a subtransaction of its own, with the caller's memory context and resource owner.  Returns NULL
 * if it was done.  If an error was raised and is_expected(), asked while that is the current one, says so, all is undone and the
 * error returned, in error_context.  Other errors are raised.
 */
extern ErrorData *gpusort_load_try(void (*do_it) (void *arg), void *arg, bool (*is_expected) (void),
								   MemoryContext error_context);

#endif							/* GPUSORT_LOAD_TRY_H */
