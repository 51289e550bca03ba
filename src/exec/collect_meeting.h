/*
 * collect_meeting.h
 *		When the participants of a collected sort have collected, and who of them stays to sort.
 *
 * The leader sorts, and workers that have collected help it before they leave (sort/sort_team.h).
 * It waits for those that have begun to collect, and for nobody else.  A worker that comes when the
 * leader sorts already does not collect any more, but helps: what it would have read was read by
 * others, as with all partial plans.
 *
 * A worker stays only if the leader has begun to collect, too.  Then the leader will come here, or
 * the query fails.
 *
 * Rows that a part refuses travel through the Gather, which the leader does not read while it waits.
 * So whoever is about to return one calls the meeting off: participants leave when they have
 * collected, and the leader sorts when they have left.
 */
#ifndef GPUSORT_COLLECT_MEETING_H
#define GPUSORT_COLLECT_MEETING_H

#include "storage/condition_variable.h"
#include "storage/spin.h"

/* In dynamic shared memory. */
typedef struct GpuSortMeeting
{
	slock_t		mutex;
	ConditionVariable changed;	/* any of what follows, all of it under the mutex */
	int			collecting;		/* participants that have begun and are not through */
	bool		leader_came;
	bool		called_off;
	bool		over;			/* all have collected, and the leader sorts */
} GpuSortMeeting;

/* Before others see it; it may be one that is called off from the beginning. */
extern void gpusort_meeting_init(GpuSortMeeting *meeting, bool called_off);

/* Begin to collect; false if that is over. */
extern bool gpusort_meeting_enter(GpuSortMeeting *meeting);

extern void gpusort_meeting_call_off(GpuSortMeeting *meeting);

/* By a worker that has collected: is the leader going to sort when all have? */
extern bool gpusort_meeting_leave(GpuSortMeeting *meeting);

/* By the leader, when it has collected: wait until all have; false if it is called off. */
extern bool gpusort_meeting_await(GpuSortMeeting *meeting);

#endif							/* GPUSORT_COLLECT_MEETING_H */
