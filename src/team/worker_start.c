/*
 * worker_start.c
 *		Starting parallel workers; see worker_start.h.
 */
#include "postgres.h"

#include <dlfcn.h>
#include <unistd.h>

#include "storage/dsm.h"
#include "storage/lwlock.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

#include "team/worker_start.h"
#include "team/worker_usage.h"

int
gpusort_processors(void)
{
	static long number = 0;

	if (number == 0)
		number = Max(sysconf(_SC_NPROCESSORS_ONLN), 1);
	return (int) Min(number, INT_MAX);
}

const char *
gpusort_library_file(void)
{
	Dl_info		info;

	if (dladdr((void *) gpusort_library_file, &info) == 0 || info.dli_fname == NULL)
		return "gpusort";
	return info.dli_fname;
}

ParallelContext *
gpusort_create_parallel_context(const char *function, int nworkers)
{
	return CreateParallelContext(gpusort_library_file(), function, nworkers);
}

/* ---------- shared memory ---------- */

static void
release_owner(ResourceOwner owner, bool success)
{
	ResourceOwnerRelease(owner, RESOURCE_RELEASE_BEFORE_LOCKS, success, false);
	ResourceOwnerRelease(owner, RESOURCE_RELEASE_LOCKS, success, false);
	ResourceOwnerRelease(owner, RESOURCE_RELEASE_AFTER_LOCKS, success, false);
	ResourceOwnerDelete(owner);
}

/*
 * Called in a PG_CATCH block: drops the error if it was one of memory or other resources, and
 * throws it again otherwise.  `memory` is the context to go on in.
 */
static void
forgive_shortage(MemoryContext memory)
{
	ErrorData  *error;

	MemoryContextSwitchTo(memory);
	error = CopyErrorData();
	if (ERRCODE_TO_CATEGORY(error->sqlerrcode) != ERRCODE_INSUFFICIENT_RESOURCES)
		PG_RE_THROW();
	FlushErrorState();
	ereport(DEBUG1,
			(errmsg_internal("gpusort starts no workers: %s", error->message)));
	FreeErrorData(error);
}

/*
 * InitializeParallelDSM() does without workers if the server has no slot for another segment, but
 * raises an error if the system has no memory for one, as in a container whose /dev/shm is small.
 * A subtransaction would clean up after the error, but is not allowed in parallel mode.  There is
 * nothing to clean up, though, but what belongs to a resource owner, and the locks of whatever code
 * asked for the memory.  Callers hold no LWLocks, so that all LWLocks can be released.
 */
bool
gpusort_init_parallel_context(ParallelContext *context)
{
	MemoryContext memory = CurrentMemoryContext;
	ResourceOwner outer = CurrentResourceOwner;
	ResourceOwner owner = ResourceOwnerCreate(outer, "gpusort workers");
	volatile bool success = false;

	PG_TRY();
	{
		CurrentResourceOwner = owner;
		gpusort_estimate_usage(context);
		InitializeParallelDSM(context);
		if (context->seg != NULL)
			dsm_pin_mapping(context->seg);
		success = true;
	}
	PG_CATCH();
	{
		CurrentResourceOwner = outer;
		forgive_shortage(memory);
		LWLockReleaseAll();
	}
	PG_END_TRY();
	CurrentResourceOwner = outer;
	release_owner(owner, success);
	if (success && context->seg != NULL)
	{
		dsm_unpin_mapping(context->seg);
		gpusort_make_usage(context);
		return true;
	}
	context->nworkers = 0;
	return false;
}
