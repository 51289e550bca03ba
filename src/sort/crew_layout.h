/*
 * crew_layout.h
 *		What the leader of a sort and the workers that load its portions have in common.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_CREW_LAYOUT_H
#define GPUSORT_CREW_LAYOUT_H

#include "storage/condition_variable.h"
#include "storage/spin.h"

#include "sort/portion_crew.h"
#include "sort/sort_view.h"

typedef enum CrewSlotState
{
	CREW_SLOT_FREE,				/* the worker may take a portion */
	CREW_SLOT_LOADING,
	CREW_SLOT_LOADED,			/* there is a view of it */
	CREW_SLOT_TOO_LARGE			/* the portion does not fit into a worker's share */
} CrewSlotState;

/* A worker's portion. */
typedef struct CrewSlot
{
	CrewSlotState state;
	uint32		portion;
	ConditionVariable freed;

	/* of one that is loaded */
	GpuSortStats stats;			/* of the worker, so far */
	GpuSortStats taken;			/* ... of which the leader has taken these into account */
} CrewSlot;

struct GpuSortPortionCrew
{
	/* fixed */
	int			workers;
	Size		view_bytes;

	/* written before the crew begins */
	GpuSortSharedPortions portions;

	ConditionVariable loaded;	/* or too large */

	slock_t		mutex;			/* of what follows */
	uint32		next;			/* portion that nobody has taken */
	uint32		wanted;			/* portions before this one are not wanted any more */
	bool		stopped;
	CrewSlot	slots[FLEXIBLE_ARRAY_MEMBER];	/* of each worker; behind them the views */
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

/* In the leader's own memory. */
typedef struct GpuSortCrewLeader
{
	GpuSortPortionCrew *crew;
} GpuSortCrewLeader;

/* What the leader may do while a portion is being loaded by a worker. */
typedef enum GpuSortCrewAnswer
{
	GPUSORT_CREW_MAPPED,		/* the portion is there */
	GPUSORT_CREW_NONE,			/* nobody loads it: do it yourself */
	GPUSORT_CREW_BUSY			/* a worker loads it; *ahead is to be loaded meanwhile */
} GpuSortCrewAnswer;

/*
 * Have the portion with the row at a position mapped as the sort's window, of which there is none, if a
 * worker loads it.  With `idle` memory of its own, the caller is given something to do (BUSY) rather
 * than let wait.
 */
extern GpuSortCrewAnswer gpusort_crew_take(GpuSort *sort, uint64 position, bool idle,
										   uint64 *ahead);

#endif							/* GPUSORT_CREW_LAYOUT_H */
