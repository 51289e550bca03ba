/*
 * workers.c
 *		Parallel workers of a job; see workers.h.
 */
#include "postgres.h"

#include <dlfcn.h>
#include <unistd.h>

#include "access/xact.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "storage/dsm.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/lwlock.h"
#include "storage/proc.h"
#include "tcop/tcopprot.h"
#include "utils/backend_status.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/wait_event.h"

#include "team/worker_wait.h"
#include "team/workers.h"

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
 * Makes the shared memory, all members of which were estimated.  Returns false if there is none
 * to be had; the context then only has to be destroyed.
 *
 * InitializeParallelDSM() does without workers if the server has no slot for another segment, but
 * raises an error if the system has no memory for one, as in a container whose /dev/shm is small.
 * A subtransaction would clean up after the error, but is not allowed in parallel mode.  There is
 * nothing to clean up, though, but what belongs to a resource owner, and the locks of whatever code
 * asked for the memory.  Callers hold no LWLocks, so that all LWLocks can be released.
 */
static bool
make_memory(ParallelContext *context)
{
	MemoryContext memory = CurrentMemoryContext;
	ResourceOwner outer = CurrentResourceOwner;
	ResourceOwner owner = ResourceOwnerCreate(outer, "gpusort workers");
	volatile bool success = false;

	PG_TRY();
	{
		CurrentResourceOwner = owner;
		InitializeParallelDSM(context);
		if (unlikely(gpusort_inject_fault == GPUSORT_FAULT_WORKER_MEMORY))
			ereport(ERROR,
					(errcode(ERRCODE_OUT_OF_MEMORY),
					 errmsg("injected lack of memory")));
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
	if (!success)
	{
		context->nworkers = 0;
		/* the owner has released the segment if there was one */
		context->seg = NULL;
	}
	else if (context->seg != NULL)
		dsm_unpin_mapping(context->seg);
	return context->nworkers > 0 && context->seg != NULL;
}

/* ---------- members ---------- */

static bool
copy_bytes(void *member, const GpuSortMember *declared, ParallelContext *context)
{
	memcpy(member, declared->from, declared->bytes);
	return true;
}

GpuSortMember
gpusort_member_of_bytes(Size bytes, const void *from)
{
	return (GpuSortMember) {bytes, copy_bytes, (void *) from};
}

static bool
copy_desc(void *member, const GpuSortMember *declared, ParallelContext *context)
{
	TupleDescCopy(member, declared->from);
	return true;
}

GpuSortMember
gpusort_member_of_desc(TupleDesc desc)
{
	return (GpuSortMember) {TupleDescSize(desc), copy_desc, desc};
}

static void
estimate_members(ParallelContext *context, const GpuSortMember *members, int nmembers)
{
	for (int i = 0; i < nmembers; i++)
	{
		if (members[i].bytes == 0)
			continue;
		shm_toc_estimate_chunk(&context->estimator, members[i].bytes);
		shm_toc_estimate_keys(&context->estimator, 1);
	}
}

/* Allocates and fills the members, in order, of which the first is entered under this key. */
static bool
make_members(ParallelContext *context, uint64 key, const GpuSortMember *members, int nmembers)
{
	for (int i = 0; i < nmembers; i++)
	{
		void	   *member;

		if (members[i].bytes == 0)
			continue;
		member = shm_toc_allocate(context->toc, members[i].bytes);
		shm_toc_insert(context->toc, key + i, member);
		if (members[i].fill == NULL)
			memset(member, 0, members[i].bytes);
		else if (!members[i].fill(member, &members[i], context))
			return false;
	}
	return true;
}

/* ---------- what workers are told about their statement, and what they use ---------- */

/* Keys of the members that all jobs have. */
#define KEY_STATEMENT		UINT64CONST(0x4753000000000f00)
#define KEY_WAL_USAGE		(KEY_STATEMENT + 1)
#define KEY_BUFFER_USAGE	(KEY_STATEMENT + 2)

typedef struct Statement
{
	uint64		query_id;
	char		text[FLEXIBLE_ARRAY_MEMBER];
} Statement;

static bool
fill_statement(void *member, const GpuSortMember *declared, ParallelContext *context)
{
	Statement  *statement = member;

	statement->query_id = pgstat_get_my_query_id();
	strcpy(statement->text, declared->from);
	return true;
}

void
gpusort_begin_worker(shm_toc *toc)
{
	const Statement *statement = shm_toc_lookup(toc, KEY_STATEMENT, false);

	debug_query_string = statement->text;
	pgstat_report_activity(STATE_RUNNING, debug_query_string);
	pgstat_report_query_id(statement->query_id, false);
	InstrStartParallelQuery();
}

void
gpusort_end_worker(shm_toc *toc)
{
	WalUsage   *wal = shm_toc_lookup(toc, KEY_WAL_USAGE, false);
	BufferUsage *buffers = shm_toc_lookup(toc, KEY_BUFFER_USAGE, false);

	InstrEndParallelQuery(&buffers[ParallelWorkerNumber], &wal[ParallelWorkerNumber]);
}

/* ---------- from start to end ---------- */

ParallelContext *
gpusort_workers_start(const char *function, int nworkers, const GpuSortMember *members,
					  int nmembers)
{
	const char *text = debug_query_string != NULL ? debug_query_string : "";
	const GpuSortMember common[] = {
		{offsetof(Statement, text) + strlen(text) + 1, fill_statement, (void *) text},
		{mul_size(sizeof(WalUsage), nworkers)},
		{mul_size(sizeof(BufferUsage), nworkers)}
	};
	ParallelContext *context;

	EnterParallelMode();
	context = CreateParallelContext(gpusort_library_file(), function, nworkers);
	estimate_members(context, common, lengthof(common));
	estimate_members(context, members, nmembers);
	if (make_memory(context) &&
		make_members(context, KEY_STATEMENT, common, lengthof(common)) &&
		make_members(context, GPUSORT_MEMBER_KEY, members, nmembers))
	{
		LaunchParallelWorkers(context);
		if (context->nworkers_launched > 0)
			return context;
	}
	gpusort_workers_end(context);
	return NULL;
}

void
gpusort_workers_finish(ParallelContext *context)
{
	WalUsage   *wal = shm_toc_lookup(context->toc, KEY_WAL_USAGE, false);
	BufferUsage *buffers = shm_toc_lookup(context->toc, KEY_BUFFER_USAGE, false);

	gpusort_worker_await_end(context);
	for (int i = 0; i < context->nworkers_launched; i++)
		InstrAccumParallelQuery(&buffers[i], &wal[i]);
}

void
gpusort_workers_end(ParallelContext *context)
{
	DestroyParallelContext(context);
	ExitParallelMode();
}

/* ---------- queues ---------- */

static bool
fill_queues(void *member, const GpuSortMember *declared, ParallelContext *context)
{
	Size		queue_bytes = declared->bytes / context->nworkers;

	for (int i = 0; i < context->nworkers; i++)
		shm_mq_set_receiver(shm_mq_create((char *) member + i * queue_bytes, queue_bytes), MyProc);
	return true;
}

GpuSortMember
gpusort_queues_member(int workers, Size queue_bytes)
{
	return (GpuSortMember) {mul_size(queue_bytes, workers), fill_queues};
}

shm_mq_handle **
gpusort_queues_attach(char *member, Size queue_bytes, const ParallelContext *context)
{
	shm_mq_handle **queues = palloc(context->nworkers_launched * sizeof(shm_mq_handle *));

	for (int i = 0; i < context->nworkers_launched; i++)
		queues[i] = shm_mq_attach((shm_mq *) (member + i * queue_bytes), context->seg,
								  context->worker[i].bgwhandle);
	return queues;
}

shm_mq_handle *
gpusort_queues_join(char *member, Size queue_bytes, dsm_segment *segment)
{
	shm_mq	   *queue = (shm_mq *) (member + ParallelWorkerNumber * queue_bytes);

	shm_mq_set_sender(queue, MyProc);
	return shm_mq_attach(queue, segment, NULL);
}

/* ---------- faults ---------- */

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
