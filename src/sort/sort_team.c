/*
 * sort_team.c
 *		Several processes that put the rows of one sort in order: those who help; see sort_team.h.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "memory/extent_mapping.h"
#include "pg_compat.h"
#include "sort/sort_state.h"
#include "sort/sort_team.h"
#include "sort/team_layout.h"
#include "worker_fault.h"
#include "worker_wait.h"

/* What a process waits for here, as others see it. */
static uint32 wait_event = 0;

/* A job, mapped into this process; unmapped with its memory context. */
typedef struct MappedPiece
{
	char	   *base;
	uint32		count;
} MappedPiece;

typedef struct MappedJob
{
	MemoryContext context;
	MemoryContextCallback on_reset;
	TeamJobHeader *header;
	MappedPiece pieces[3 + 2 * GS_MAX_PLANES];
	int			npieces;
	gs_plane   *planes;
	gs_sort_args args;
} MappedJob;

Size
gpusort_team_bytes(void)
{
	return sizeof(GpuSortTeam);
}

void
gpusort_team_init(GpuSortTeam *team, int expected)
{
	memset(team, 0, sizeof(*team));
	team->helpers = expected;
	SpinLockInit(&team->mutex);
	ConditionVariableInit(&team->changed);
}

void
gpusort_use_team(GpuSort *sort, GpuSortTeam *team, int participants)
{
	sort->team.team = team;
	sort->team.participants = participants;
}

void
gpusort_team_dismiss(GpuSortTeam *team)
{
	SpinLockAcquire(&team->mutex);
	team->dismissed = true;
	SpinLockRelease(&team->mutex);
	ConditionVariableBroadcast(&team->changed);
}

/* ---------- the gate ---------- */

/* Processes enter and leave at any time; returns the phase that others are in. */
static uint32
enter_gate(GpuSortTeam *team)
{
	uint32		phase;

	SpinLockAcquire(&team->mutex);
	team->inside++;
	phase = team->phase;
	SpinLockRelease(&team->mutex);
	return phase;
}

/* Under the mutex: has the last one arrived?  Then all go on. */
static bool
opens(GpuSortTeam *team)
{
	if (team->inside == 0 || team->arrived < team->inside)
		return false;
	team->arrived = 0;
	team->phase++;
	return true;
}

/* Wait until all who are inside have come as far. */
static void
pass_gate(GpuSortTeam *team)
{
	uint32		phase;
	bool		opened;

	SpinLockAcquire(&team->mutex);
	phase = team->phase;
	team->arrived++;
	opened = opens(team);
	SpinLockRelease(&team->mutex);
	if (opened)
	{
		ConditionVariableBroadcast(&team->changed);
		return;
	}
	ConditionVariablePrepareToSleep(&team->changed);
	for (;;)
	{
		bool		passed;

		SpinLockAcquire(&team->mutex);
		passed = team->phase != phase;
		SpinLockRelease(&team->mutex);
		if (passed)
			break;
		gpusort_worker_await(&team->changed, gpusort_wait_event(&wait_event, "GpuSortTeam"));
	}
	ConditionVariableCancelSleep();
}

static void
leave_gate(GpuSortTeam *team)
{
	SpinLockAcquire(&team->mutex);
	team->inside--;
	(void) opens(team);
	SpinLockRelease(&team->mutex);
	ConditionVariableBroadcast(&team->changed);
}

gs_status
gpusort_team_participate(GpuSortTeam *team, gs_participant *participant, gs_shared_sort *shared)
{
	gs_status	status = GS_OK;
	uint32		phase;

	for (phase = enter_gate(team); status == GS_OK && !gs_shared_sort_done(shared, phase); phase++)
	{
		gpusort_worker_fault("a phase of a sort");
		status = gs_participate(participant, phase);
		if (status == GS_OK)
			pass_gate(team);
	}
	leave_gate(team);
	return status;
}

void
gpusort_team_listen(gs_sort_args *args)
{
	args->cancel = (const volatile int *) &QueryCancelPending;
	args->also_cancel = (const volatile int *) &ProcDiePending;
}

/* ---------- helping ---------- */

static void
unmap_job(void *arg)
{
	MappedJob  *mapped = arg;

	for (int i = 0; i < mapped->npieces; i++)
		gpusort_mapping_end(mapped->pieces[i].base, mapped->pieces[i].count);
}

/* Map extents until the context goes; NULL if there is no address space. */
static char *
map_extents(MappedJob *mapped, const uint32 *list, uint32 count, bool writable)
{
	char	   *base = gpusort_mapping_make(list, count, writable);

	if (base != NULL)
		mapped->pieces[mapped->npieces++] = (MappedPiece) {base, count};
	return base;
}

static char *
map_piece(MappedJob *mapped, TeamPiece piece, bool writable)
{
	return map_extents(mapped, team_list(mapped->header) + piece.first, piece.count, writable);
}

/* Map the planes; false if there is no address space or memory. */
static bool
map_planes(MappedJob *mapped)
{
	const TeamJobHeader *header = mapped->header;
	gs_plane   *planes = MemoryContextAllocZero(mapped->context, header->nplanes * sizeof(gs_plane));

	for (uint32 i = 0; i < header->nplanes; i++)
	{
		const TeamPlane *plane = &header->planes[i];

		planes[i].null_order = plane->null_order;
		planes[i].words = (const uint64 *) map_piece(mapped, plane->words, false);
		if (planes[i].words == NULL)
			return false;
		if (plane->nulls.count > 0 &&
			(planes[i].nulls = (const uint64 *) map_piece(mapped, plane->nulls, false)) == NULL)
			return false;
		if (plane->numbered)
			planes[i].numbering = MemoryContextAlloc(mapped->context, sizeof(gs_numbering));
	}
	mapped->args.planes = planes;
	mapped->args.nplanes = header->nplanes;
	return true;
}

/*
 * Items are scattered over the second half of the workspace, so that each process touches most of its
 * pages; in the first half it touches those of its own pieces.
 */
static bool
map_workspace(MappedJob *mapped)
{
	const TeamJobHeader *header = mapped->header;
	gs_sort_args *args = &mapped->args;
	size_t		half = header->workspace_bytes / 2 / EXTENT_BYTES * EXTENT_BYTES;

	args->workspace = map_piece(mapped, header->workspace, true);
	if (args->workspace == NULL)
		return false;
	gpusort_mapping_populate((char *) args->workspace + half, header->workspace_bytes - half);
	args->workspace_bytes = header->workspace_bytes;
	if (header->equal.count == 0)
		return true;
	args->equal = (uint64 *) map_piece(mapped, header->equal, true);
	return args->equal != NULL;
}

/* Map the job that the team has; NULL if there is no address space for it. */
static MappedJob *
map_job(const GpuSortTeam *team, MemoryContext context)
{
	MappedJob  *mapped = MemoryContextAllocZero(context, sizeof(MappedJob));

	mapped->context = context;
	mapped->on_reset = (MemoryContextCallback) {.func = unmap_job,.arg = mapped};
	MemoryContextRegisterResetCallback(context, &mapped->on_reset);
	mapped->header = (TeamJobHeader *) map_extents(mapped, team->extents, team->count, true);
	if (mapped->header == NULL)
		return NULL;
	mapped->args.nrows = mapped->header->nrows;
	mapped->args.id_bytes = sizeof(uint32);
	mapped->args.want_keys = mapped->header->want_keys;
	gpusort_team_listen(&mapped->args);
	return map_planes(mapped) && map_workspace(mapped) ? mapped : NULL;
}

/* Memory of a participant's, aligned to a line of the cache. */
static void *
participant_memory(MemoryContext context, const TeamJobHeader *header)
{
	Size		bytes = gs_participant_bytes(header->nrows, header->participants);

	return (void *) TYPEALIGN(GS_LINE_BYTES, MemoryContextAlloc(context, bytes + GS_LINE_BYTES));
}

/* Take part in the team's job; a process that can't map it leaves it to the others. */
static void
help(GpuSortTeam *team)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "GpuSort team",
												  ALLOCSET_DEFAULT_SIZES);
	MappedJob  *mapped = map_job(team, context);
	gs_participant *participant = NULL;

	if (mapped != NULL)
		participant = gs_participant_begin(participant_memory(context, mapped->header),
										   team_shared_sort(mapped->header), &mapped->args);
	if (participant != NULL)
		(void) gpusort_team_participate(team, participant, team_shared_sort(mapped->header));
	MemoryContextDelete(context);
	SpinLockAcquire(&team->mutex);
	team->users--;
	SpinLockRelease(&team->mutex);
	ConditionVariableBroadcast(&team->changed);
	CHECK_FOR_INTERRUPTS();
}

/* Begin to use a job that this process has not seen yet; false if there is none. */
static bool
take_job(GpuSortTeam *team, uint32 *seen, bool *dismissed)
{
	bool		taken;

	SpinLockAcquire(&team->mutex);
	*dismissed = team->dismissed;
	taken = !team->dismissed && team->open && team->number != *seen;
	if (taken)
	{
		*seen = team->number;
		team->users++;
	}
	SpinLockRelease(&team->mutex);
	return taken;
}

void
gpusort_team_help(GpuSortTeam *team)
{
	uint32		seen = 0;
	bool		dismissed;

	SpinLockAcquire(&team->mutex);
	team->helpers++;
	SpinLockRelease(&team->mutex);
	do
	{
		bool		taken;

		ConditionVariablePrepareToSleep(&team->changed);
		while (!(taken = take_job(team, &seen, &dismissed)) && !dismissed)
			gpusort_worker_await(&team->changed, gpusort_wait_event(&wait_event, "GpuSortTeam"));
		ConditionVariableCancelSleep();
		if (taken)
			help(team);
	} while (!dismissed);
}
