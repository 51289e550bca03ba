/*
 * load_try.c
 *		Doing in a subtransaction what may fail because of a row; see load_try.h.
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

#include "load/load_try.h"

ErrorData *
gpusort_load_try(void (*do_it) (void *arg), void *arg, bool (*is_expected) (void),
				 MemoryContext error_context)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	ErrorData  *volatile error = NULL;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		do_it(arg);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		bool		expected = is_expected();

		MemoryContextSwitchTo(error_context);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(context);
		CurrentResourceOwner = owner;
		if (!expected)
			ReThrowError(error);
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
	return error;
}
