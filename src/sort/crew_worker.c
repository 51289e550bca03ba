/*
 * crew_worker.c
 *		A worker that loads portions of a sort; see sort_parts.h.
 */
#include "postgres.h"

#include "pg_compat.h"
#include "runs/runs.h"
#include "sort/sort_parts.h"
#include "sort/spill_private.h"
#include "sort/state_private.h"
#include "team/worker_wait.h"
#include "team/workers.h"

/* The wait event of this file, once it has been made. */
static uint32 wait_event = 0;

GpuSortParts *
gpusort_crew_parts(const GpuSortPortionCrew *crew)
{
	return gpusort_parts_attach(crew->portions.parts);
}

/*
 * Takes the next portion that nobody has taken.  Returns false if there is none, or if the crew was
 * stopped.
 */
static bool
take_portion(GpuSortPortionCrew *crew, CrewSlot *slot)
{
	bool		taken;

	SpinLockAcquire(&crew->mutex);
	taken = !crew->stopped && crew->next < crew->portions.count;
	if (taken)
	{
		slot->portion = crew->next++;
		slot->state = CREW_SLOT_LOADING;
	}
	SpinLockRelease(&crew->mutex);
	return taken;
}

/*
 * Tells the leader what has become of the portion.  If the leader has jumped past it meanwhile,
 * nobody wants it, and the slot is free again.
 */
static void
show_portion(GpuSortPortionCrew *crew, CrewSlot *slot, CrewSlotState state)
{
	SpinLockAcquire(&crew->mutex);
	slot->state = slot->portion < crew->wanted ? CREW_SLOT_FREE : state;
	SpinLockRelease(&crew->mutex);
	ConditionVariableSignal(&crew->loaded);
}

/* Waits until the leader has read the worker's portion.  Returns false if the crew was stopped. */
static bool
await_turn(GpuSortPortionCrew *crew, CrewSlot *slot)
{
	bool		stopped;

	ConditionVariablePrepareToSleep(&slot->freed);
	for (;;)
	{
		bool		freed;

		SpinLockAcquire(&crew->mutex);
		stopped = crew->stopped;
		freed = slot->state == CREW_SLOT_FREE;
		SpinLockRelease(&crew->mutex);
		if (stopped || freed)
			break;
		gpusort_worker_await(&slot->freed, gpusort_wait_event(&wait_event, "GpuSortPortionTaken"));
	}
	ConditionVariableCancelSleep();
	return !stopped;
}

/*
 * Loads the portion that the worker has taken, and publishes a view for the leader to map.  Returns
 * false if the portion does not fit into the worker's share of the memory.
 */
static bool
load_portion(GpuSortPortionCrew *crew, int number, GpuSort *part, GpuSortPortionFile *file)
{
	CrewSlot   *slot = &crew->slots[number];

	gpusort_worker_fault("a portion of a sort");
	gpusort_portion_file_read(file, slot->portion);
	if (!gpusort_portion_load(part, file->runs, file->nruns, file->from, file->to) ||
		!gpusort_publish_view(part, crew_view(crew, number)))
		return false;
	slot->stats = part->stats;
	return true;
}

void
gpusort_crew_load(GpuSortPortionCrew *crew, int number, GpuSort *part)
{
	CrewSlot   *slot = &crew->slots[number];
	GpuSortPortionFile *file;

	file = gpusort_portion_file_open(part->runs.spill->files, crew->portions.file,
									 part->index_rows);
	while (number < crew->portions.workers && take_portion(crew, slot))
	{
		show_portion(crew, slot, load_portion(crew, number, part, file)
					 ? CREW_SLOT_LOADED : CREW_SLOT_TOO_LARGE);
		if (!await_turn(crew, slot))
			break;
	}
	gpusort_portion_file_close(file);
}
