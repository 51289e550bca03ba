/*
 * crew_worker.c
 *		A worker that loads portions of a sort; see crew_worker.h.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "utils/wait_event.h"

#include "pg_compat.h"
#include "runs/portion_file.h"
#include "settings.h"
#include "sort/crew_layout.h"
#include "sort/crew_worker.h"
#include "sort/portion_load.h"
#include "sort/sort_state.h"
#include "sort/spill_files.h"

/* What a process waits for here, as others see it. */
static uint32 wait_event = 0;

/* How long a portion takes at least that a fault makes slow: the leader will have to wait for it. */
#define SLOW_PORTION_MS		500

/* Let go wrong what a test wants to: worker 0 fails, or ends without a word; the others are slow. */
static void
fault_in_portion(int number)
{
	if (gpusort_inject_fault < GPUSORT_FAULT_SLOW_SLICES)
		return;
	if (number == 0 && gpusort_inject_fault == GPUSORT_FAULT_WORKER_ERROR)
		elog(ERROR, "injected error in a portion of a sort");
	if (number == 0 && gpusort_inject_fault == GPUSORT_FAULT_WORKER_EXIT)
		proc_exit(0);
	(void) WaitLatch(NULL, WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, SLOW_PORTION_MS, gpusort_wait_event(&wait_event, "GpuSortPortionTaken"));
	CHECK_FOR_INTERRUPTS();
}

GpuSortParts *
gpusort_crew_parts(const GpuSortPortionCrew *crew)
{
	return gpusort_parts_attach(crew->portions.parts);
}

/* Take the next portion; false if there is none, or if no more are wanted. */
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

/* Show what has become of the portion; nobody wants it if it is one from before a jump. */
static void
show_portion(GpuSortPortionCrew *crew, CrewSlot *slot, CrewSlotState state)
{
	SpinLockAcquire(&crew->mutex);
	slot->state = slot->portion < crew->wanted ? CREW_SLOT_FREE : state;
	SpinLockRelease(&crew->mutex);
	ConditionVariableSignal(&crew->loaded);
}

/* Wait until the leader has read it; false if no more are wanted. */
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
		ConditionVariableSleep(&slot->freed, gpusort_wait_event(&wait_event, "GpuSortPortionTaken"));
	}
	ConditionVariableCancelSleep();
	return !stopped;
}

/* Load the portion that was taken, and let the leader map it; false if it does not fit. */
static bool
load_portion(GpuSortPortionCrew *crew, int number, GpuSort *part, GpuSortPortionFile *file)
{
	CrewSlot   *slot = &crew->slots[number];

	fault_in_portion(number);
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

	file = gpusort_portion_file_open(part->spill->files, crew->portions.file, part->index_rows);
	while (number < crew->portions.workers && take_portion(crew, slot))
	{
		show_portion(crew, slot, load_portion(crew, number, part, file)
					 ? CREW_SLOT_LOADED : CREW_SLOT_TOO_LARGE);
		if (!await_turn(crew, slot))
			break;
	}
	gpusort_portion_file_close(file);
}
