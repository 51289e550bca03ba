/*
 * activity.c
 *		Sorts that are running, and the names of kinds; see stats.h.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "port/atomics.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/proc.h"
#include "storage/shmem.h"
#include "utils/timestamp.h"

#include "pg_compat/statistics.h"
#include "stats/stats.h"

/*
 * How many sorts of one process can be seen at a time.  Each takes 104 bytes, for every process
 * that the server may have.
 */
#define SORTS_OF_PROCESS	8

static GpuSortActivity *activities = NULL;
static uint32 used = 0;			/* entries of this process in use, one bit each */

static int
number_of_entries(void)
{
	return MaxBackends * SORTS_OF_PROCESS;
}

static Size
bytes_of_entries(void)
{
	return mul_size(number_of_entries(), sizeof(GpuSortActivity));
}

void
gpusort_request_activity(void)
{
	RequestAddinShmemSpace(bytes_of_entries());
}

void
gpusort_make_activity(void)
{
	bool		found;

	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	activities = ShmemInitStruct("gpusort activity", bytes_of_entries(), &found);
	if (!found)
		memset(activities, 0, bytes_of_entries());
	LWLockRelease(AddinShmemInitLock);
}

bool
gpusort_has_activity(void)
{
	return activities != NULL;
}

/* These enclose changes of fields that must agree with each other. */
static void
begin_change(GpuSortActivity *activity)
{
	activity->changes++;
	pg_write_barrier();
}

static void
end_change(GpuSortActivity *activity)
{
	pg_write_barrier();
	activity->changes++;
}

static void
clear(GpuSortActivity *activity)
{
	begin_change(activity);
	activity->pid = 0;
	end_change(activity);
}

/* Called when the process exits, perhaps in the middle of its sorts: frees its entries. */
static void
clear_own(int code, Datum first)
{
	GpuSortActivity *own = &activities[DatumGetInt32(first)];

	for (int i = 0; i < SORTS_OF_PROCESS; i++)
		clear(&own[i]);
	used = 0;
}

/* Returns the entries of this process, or NULL if it has none. */
static GpuSortActivity *
own_entries(void)
{
	static GpuSortActivity *own = NULL;
	int			number;

	if (own != NULL || activities == NULL || MyProc == NULL)
		return own;
	number = gpusort_proc_number();
	if (number < 0 || number >= MaxBackends)
		return NULL;
	own = &activities[number * SORTS_OF_PROCESS];
	on_shmem_exit(clear_own, Int32GetDatum(number * SORTS_OF_PROCESS));
	return own;
}

GpuSortActivity *
gpusort_begin_activity(GpuSortKind kind, double estimated_rows)
{
	GpuSortActivity *own = own_entries();
	GpuSortActivity *activity;
	PGPROC	   *leader = MyProc != NULL ? MyProc->lockGroupLeader : NULL;
	int			i = 0;

	while (i < SORTS_OF_PROCESS && (used & 1 << i) != 0)
		i++;
	if (own == NULL || i == SORTS_OF_PROCESS)
		return NULL;
	used |= 1 << i;
	activity = &own[i];
	begin_change(activity);
	activity->leader_pid = leader != NULL && leader != MyProc ? leader->pid : 0;
	activity->database = MyDatabaseId;
	activity->role = GetSessionUserId();
	activity->kind = kind;
	activity->phase = GPUSORT_PHASE_COLLECT;
	activity->engine = -1;
	activity->rows = activity->bytes = activity->pool_bytes = activity->spilled_bytes = 0;
	activity->estimated_rows = estimated_rows;
	activity->done = 0;
	activity->owner = 0;
	activity->started = GetCurrentTimestamp();
	activity->pid = MyProcPid;
	end_change(activity);
	return activity;
}

void
gpusort_end_activity(GpuSortActivity *activity)
{
	GpuSortActivity *own = own_entries();

	if (activity == NULL || own == NULL)
		return;
	clear(activity);
	used &= ~(1 << (activity - own));
}

GpuSortActivity *
gpusort_find_activity(uint32 owner)
{
	GpuSortActivity *own = owner != 0 ? own_entries() : NULL;

	for (int i = 0; own != NULL && i < SORTS_OF_PROCESS; i++)
		if ((used & 1 << i) != 0 && own[i].owner == owner &&
			own[i].phase == GPUSORT_PHASE_COLLECT)
			return &own[i];
	return NULL;
}

bool
gpusort_read_activity(int i, GpuSortActivity *activity)
{
	const volatile GpuSortActivity *entry = &activities[i];
	uint32		before;
	uint32		after;

	if (i >= number_of_entries())
		return false;
	do
	{
		before = entry->changes;
		pg_read_barrier();
		memcpy(activity, (const GpuSortActivity *) entry, sizeof(*activity));
		pg_read_barrier();
		after = entry->changes;
		CHECK_FOR_INTERRUPTS();
	} while (before != after || (before & 1) != 0);
	return true;
}

const char *
gpusort_phase_name(GpuSortPhase phase, GpuSortKind kind)
{
	switch (phase)
	{
		case GPUSORT_PHASE_COLLECT:
			return "collecting";
		case GPUSORT_PHASE_JOIN:
			return "joining parts";
		case GPUSORT_PHASE_SORT:
			return "sorting";
		case GPUSORT_PHASE_REFINE:
			return "refining";
		case GPUSORT_PHASE_VERIFY:
			return "verifying";
		case GPUSORT_PHASE_SPILL:
			return "spilling";
		case GPUSORT_PHASE_CORE:
			return "handed over";
		case GPUSORT_PHASE_RETURN:
			return kind == GPUSORT_KIND_INDEX || kind == GPUSORT_KIND_CLUSTER ? "writing pages" :
				"returning rows";
	}
	return "unknown";
}

/* ---------- kinds: their names ---------- */

const char *
gpusort_kind_name(GpuSortKind kind)
{
	switch (kind)
	{
		case GPUSORT_KIND_ORDER_BY:
			return "order by";
		case GPUSORT_KIND_GROUP:
			return "group";
		case GPUSORT_KIND_DISTINCT:
			return "distinct";
		case GPUSORT_KIND_WINDOW:
			return "window";
		case GPUSORT_KIND_JOIN:
			return "join";
		case GPUSORT_KIND_SET_OPERATION:
			return "set operation";
		case GPUSORT_KIND_INDEX:
			return "index";
		case GPUSORT_KIND_CLUSTER:
			return "cluster";
		case GPUSORT_KIND_OTHER:
			break;
	}
	return "other";
}
