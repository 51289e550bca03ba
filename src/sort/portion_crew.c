/*
 * portion_crew.c
 *		The leader's side of a crew that loads portions; see sort_parts.h.
 *
 * Workers take portions in order, and a sort is nearly always read in order, too.  So the portion
 * that is wanted next is the one that was begun first.  A portion that the leader has passed is not
 * kept.  If the leader goes back, it has to load that portion by itself, while the workers keep
 * theirs for when the leader comes forward again.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/latch.h"
#include "utils/wait_event.h"

#include "elapsed.h"
#include "pg_compat.h"
#include "runs/runs.h"
#include "settings.h"
#include "sort/memory_private.h"
#include "sort/parts_private.h"
#include "sort/spill_private.h"
#include "sort/state_private.h"
#include "team/worker_wait.h"

/* The wait event of this file, once it has been made. */
static uint32 wait_event = 0;

/* In tests, how long to wait for workers to take the first portion, and how often. */
#define FIRST_PORTION_MS	10
#define FIRST_PORTION_WAITS	2000

Size
gpusort_crew_bytes(int workers)
{
	return add_size(crew_views_offset(workers),
					mul_size(workers, MAXALIGN(gpusort_view_shared_bytes())));
}

bool
gpusort_crew_init(GpuSortPortionCrew *crew, int workers, GpuSort *sort)
{
	memset(crew, 0, crew_views_offset(workers));
	crew->workers = workers;
	crew->view_bytes = MAXALIGN(gpusort_view_shared_bytes());
	ConditionVariableInit(&crew->loaded);
	SpinLockInit(&crew->mutex);
	for (int i = 0; i < workers; i++)
		ConditionVariableInit(&crew->slots[i].freed);
	return gpusort_share_portions(sort, &crew->portions);
}

void
gpusort_crew_begin(GpuSortPortionCrew *crew, GpuSort *sort)
{
	GpuSortSpill *spill = sort->runs.spill;
	GpuSortCrewLeader *leader;

	Assert(spill->crew == NULL);
	leader = MemoryContextAllocZero(spill->context, sizeof(GpuSortCrewLeader));
	leader->crew = crew;
	spill->crew = leader;
}

void
gpusort_crew_stop(GpuSort *sort)
{
	GpuSortSpill *spill = sort->runs.spill;
	GpuSortCrewLeader *leader = spill != NULL ? spill->crew : NULL;
	GpuSortPortionCrew *crew;

	if (leader == NULL)
		return;
	crew = leader->crew;
	gpusort_unmap_window(sort);
	SpinLockAcquire(&crew->mutex);
	crew->stopped = true;
	SpinLockRelease(&crew->mutex);
	for (int i = 0; i < crew->workers; i++)
		ConditionVariableBroadcast(&crew->slots[i].freed);
	pfree(leader);
	spill->crew = NULL;
}

/*
 * Tells the workers that no portion before this one is wanted any more, and frees the slots that
 * have one of them.
 */
static void
pass_portions(GpuSortPortionCrew *crew, uint32 portion)
{
	SpinLockAcquire(&crew->mutex);
	crew->wanted = portion;
	SpinLockRelease(&crew->mutex);
	for (int i = 0; i < crew->workers; i++)
	{
		CrewSlot   *slot = &crew->slots[i];
		bool		passed;

		SpinLockAcquire(&crew->mutex);
		passed = slot->portion < portion &&
			(slot->state == CREW_SLOT_LOADED || slot->state == CREW_SLOT_TOO_LARGE);
		if (passed)
			slot->state = CREW_SLOT_FREE;
		SpinLockRelease(&crew->mutex);
		if (passed)
			ConditionVariableSignal(&slot->freed);
	}
}

/* What search() has found out about a portion. */
typedef struct Search
{
	CrewSlotState state;		/* of its slot; CREW_SLOT_FREE: no worker has the portion */
	int			slot;			/* number of the slot, if a worker has the portion */
	bool		given;			/* the caller is to load portion `ahead` meanwhile */
	uint32		ahead;			/* taken by the caller, if given */
} Search;

/*
 * Finds out whether a worker has a portion.  If none has, the caller is to load it, and no worker
 * will take it.  If a worker is loading it and the caller is idle, takes the next portion for the
 * caller.
 */
static Search
search(GpuSortPortionCrew *crew, uint32 portion, bool idle)
{
	Search		s = {.state = CREW_SLOT_FREE, .slot = -1};

	SpinLockAcquire(&crew->mutex);
	for (int i = 0; i < crew->workers; i++)
		if (crew->slots[i].state != CREW_SLOT_FREE && crew->slots[i].portion == portion)
		{
			s.state = crew->slots[i].state;
			s.slot = i;
		}
	if (s.state == CREW_SLOT_FREE && crew->next <= portion)
		crew->next = portion + 1;
	if (s.state == CREW_SLOT_LOADING && idle && crew->next < crew->portions.count)
	{
		s.given = true;
		s.ahead = crew->next++;
	}
	SpinLockRelease(&crew->mutex);
	return s;
}

/* Maps the portion that the worker with this number has loaded as the sort's window. */
static void
map_portion(GpuSort *sort, uint32 portion, int number)
{
	GpuSortCrewLeader *leader = sort->runs.spill->crew;
	CrewSlot   *slot = &leader->crew->slots[number];
	GpuSortWindow *window = &sort->runs.window;

	if (!gpusort_attach_view(crew_view(leader->crew, number), &window->view, &window->mapping))
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory"),
				 errdetail("Failed to map rows of a sort that were read back from temporary files.")));
	window->first = sort->runs.spill->shared_first[portion];
	window->nrows = window->view.nrows;
	window->mapped = true;
	sort->stats.portions++;
	sort->stats.worker_portions++;
	gpusort_counters_merge(&sort->stats, &slot->stats, &slot->taken);
	slot->taken = slot->stats;
}

/*
 * Waits until some worker has taken a portion, for tests: a fault that strikes a worker's portion
 * (gpusort.inject_fault) needs a worker that has one.
 */
static void
await_first_portion(const GpuSortPortionCrew *crew)
{
	for (int i = 0; i < FIRST_PORTION_WAITS && crew->next == 0; i++)
	{
		(void) WaitLatch(NULL, WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, FIRST_PORTION_MS,
						 gpusort_wait_event(&wait_event, "GpuSortPortion"));
		CHECK_FOR_INTERRUPTS();
	}
}

GpuSortCrewAnswer
gpusort_crew_take(GpuSort *sort, uint64 position, bool idle, uint64 *ahead)
{
	const GpuSortSpill *spill = sort->runs.spill;
	GpuSortCrewLeader *leader = spill->crew;
	GpuSortPortionCrew *crew = leader->crew;
	uint32		portion = gpusort_find_portion(spill->shared_first, spill->shared_count, position);
	GpuSortCrewAnswer answer = GPUSORT_CREW_NONE;
	instr_time	start;

	if (portion < crew->wanted)
		return GPUSORT_CREW_NONE;
	if (unlikely(gpusort_inject_fault >= GPUSORT_FAULT_SLOW_SLICES))
		await_first_portion(crew);
	pass_portions(crew, portion);

	INSTR_TIME_SET_CURRENT(start);
	ConditionVariablePrepareToSleep(&crew->loaded);
	for (;;)
	{
		Search		s = search(crew, portion, idle);

		if (s.state == CREW_SLOT_LOADED)
		{
			map_portion(sort, portion, s.slot);
			answer = GPUSORT_CREW_MAPPED;
			break;
		}
		if (s.state != CREW_SLOT_LOADING)
			break;
		if (s.given)
		{
			*ahead = sort->runs.spill->shared_first[s.ahead];
			answer = GPUSORT_CREW_BUSY;
			break;
		}
		gpusort_worker_await(&crew->loaded, gpusort_wait_event(&wait_event, "GpuSortPortion"));
	}
	ConditionVariableCancelSleep();
	gpusort_add_elapsed(&sort->stats.read_time, start);
	return answer;
}
