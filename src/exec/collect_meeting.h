/*
 * collect_meeting.h
 *		The meeting of the participants of a collected sort: when all have collected, and which
 *		of them stay to sort.
 *
 * The leader sorts, and workers that have collected help it before they leave (sort/sort_team.h).
 * The leader waits for the workers that have begun to collect, and for no other.  A worker that
 * comes when the leader is sorting already does not collect, but helps: the rows that it would have
 * read were read by other participants, as with all partial plans.
 *
 * A worker stays only if the leader has begun to collect, too.  Then either the leader will come to
 * the meeting, or the query fails.
 *
 * Rows that a part refuses travel through the Gather, which the leader does not read while it
 * waits.  So a participant that is about to return such a row calls the meeting off: workers then
 * leave when they have collected, and the leader sorts when they have left.
 */
#ifndef GPUSORT_COLLECT_MEETING_H
#define GPUSORT_COLLECT_MEETING_H

#include "storage/condition_variable.h"
#include "storage/spin.h"

/* Lives in dynamic shared memory.  The mutex protects all other fields but `changed`. */
typedef struct GpuSortMeeting
{
	slock_t		mutex;
	ConditionVariable changed;	/* broadcast when a field below has changed */
	int			collecting;		/* participants that have begun to collect and have not finished */
	bool		leader_came;
	bool		called_off;
	bool		over;			/* all have collected, and the leader is sorting */
} GpuSortMeeting;

/*
 * Initializes a meeting, before other processes see it.  It may be called off from the beginning.
 */
extern void gpusort_meeting_init(GpuSortMeeting *meeting, bool called_off);

/*
 * Called by a participant that is about to collect.  Returns false if the meeting is over, so that
 * nothing is left to be collected.
 */
extern bool gpusort_meeting_enter(GpuSortMeeting *meeting);

extern void gpusort_meeting_call_off(GpuSortMeeting *meeting);

/*
 * Called by a worker that has collected.  Returns whether the leader is going to sort as soon as
 * all have collected, so that the worker should stay and help.
 */
extern bool gpusort_meeting_leave(GpuSortMeeting *meeting);

/*
 * Called by the leader when it has collected: waits until all participants have.  Returns false if
 * the meeting was called off.
 */
extern bool gpusort_meeting_await(GpuSortMeeting *meeting);

#endif							/* GPUSORT_COLLECT_MEETING_H */
