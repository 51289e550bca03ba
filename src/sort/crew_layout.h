/*
 * crew_layout.h
 *		What the leader of a sort and the workers that load its portions share.
 *
 * The leader and the workers of a crew (sort_parts.h) share a GpuSortPortionCrew in dynamic
 * shared memory.  Each worker has a slot, which says what the worker does with its current portion.
 * The worker itself moves its slot from FREE through LOADING to LOADED or TOO_LARGE; the leader
 * makes it FREE again when it does not want the portion any more.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_CREW_LAYOUT_H
#define GPUSORT_CREW_LAYOUT_H

#include "storage/condition_variable.h"
#include "storage/spin.h"

#include "sort/sort_parts.h"
#include "sort/sort_view.h"

typedef enum CrewSlotState
{
	CREW_SLOT_FREE,				/* the worker may take a portion */
	CREW_SLOT_LOADING,			/* the worker reads and sorts a portion */
	CREW_SLOT_LOADED,			/* a view of the portion is published */
	CREW_SLOT_TOO_LARGE			/* the portion does not fit into a worker's share */
} CrewSlotState;

/* A worker, and the portion that it has or had last. */
typedef struct CrewSlot
{
	CrewSlotState state;
	uint32		portion;
	ConditionVariable freed;	/* the slot is FREE again, or the crew is stopped */

	/* counters of the portions that the worker has loaded, valid in state LOADED */
	GpuSortStats stats;			/* the worker's counters so far */
	GpuSortStats taken;			/* the part of `stats` that the leader has added to the sort's */
} CrewSlot;

struct GpuSortPortionCrew
{
	/* set by gpusort_crew_init() */
	int			workers;
	Size		view_bytes;		/* distance between two views */

	/* written by the leader before any worker is launched */
	GpuSortSharedPortions portions;

	ConditionVariable loaded;	/* some slot became LOADED or TOO_LARGE */

	/* protects the fields below; in the slots, only state and portion */
	slock_t		mutex;
	uint32		next;			/* number of the first portion that nobody has taken */
	uint32		wanted;			/* the leader does not want portions before this one any more */
	bool		stopped;		/* the leader wants no more portions at all */
	CrewSlot	slots[FLEXIBLE_ARRAY_MEMBER];	/* one for each worker, followed by the views */
};

static inline Size
crew_views_offset(int workers)
{
	return MAXALIGN(offsetof(GpuSortPortionCrew, slots) + workers * sizeof(CrewSlot));
}

static inline GpuSortSharedView *
crew_view(GpuSortPortionCrew *crew, int slot)
{
	return (GpuSortSharedView *) ((char *) crew + crew_views_offset(crew->workers) +
								  slot * crew->view_bytes);
}

/* ---------- the leader's side, for sort_portions.c ---------- */

/* What the leader remembers of its crew, in its own memory. */
typedef struct GpuSortCrewLeader
{
	GpuSortPortionCrew *crew;
} GpuSortCrewLeader;

/* How gpusort_crew_take() answers a leader who wants a portion. */
typedef enum GpuSortCrewAnswer
{
	GPUSORT_CREW_MAPPED,		/* the portion is mapped as the sort's window */
	GPUSORT_CREW_NONE,			/* no worker loads the portion: the leader has to */
	GPUSORT_CREW_BUSY			/* a worker is loading it; the leader is to load *ahead meanwhile */
} GpuSortCrewAnswer;

/*
 * Maps the portion that holds the row at a position as the sort's window, if a worker loads that
 * portion; waits for the worker if necessary.  The sort must not have a window.
 *
 * idle says that the leader has memory of its own in which it could load another portion.  Then it
 * is not let wait: the answer is GPUSORT_CREW_BUSY, and *ahead is the position of the first row of
 * the next portion that nobody has taken.
 */
extern GpuSortCrewAnswer gpusort_crew_take(GpuSort *sort, uint64 position, bool idle,
										   uint64 *ahead);

#endif							/* GPUSORT_CREW_LAYOUT_H */
