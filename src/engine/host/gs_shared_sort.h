/*
 * gs_shared_sort.h
 *		The engine on the host, by any number of participants.
 *
 * Participants are processes or threads that map the same memory, at whatever addresses: the planes,
 * the workspace, the bitmap of equal rows, and what is shared here.  The engine brings no waiting: the
 * sort is cut into phases, and a phase into pieces that any participant takes.  Everybody calls
 *
 *		participant = gs_participant_begin(memory, shared, args);
 *		for (phase = 0; !gs_shared_sort_done(shared, phase); phase++)
 *		{
 *			status = gs_participate(participant, phase);
 *			wait until all participants have come as far, or have gone
 *		}
 *
 * and the wait is the caller's: a barrier of the server's, or of threads.  A participant may come
 * late, in whatever phase the others are, if the barrier lets it in; and may leave where the others
 * wait for it no longer.  None is waited for that has not come.  But one that dies in the middle of a
 * piece leaves a sort that can't be finished: planes are only read, so it may be done again from the
 * start.
 *
 * The result is that of gs_sort(), whoever has done what.
 */
#ifndef GS_SHARED_SORT_H
#define GS_SHARED_SORT_H

#include "engine/host/gs_sort.h"

/* Most participants of one sort. */
#define GS_MAX_PARTICIPANTS	1024

typedef struct gs_shared_sort gs_shared_sort;
typedef struct gs_participant gs_participant;

/*
 * Bytes that participants share beside the workspace: some kB, and 1/50 of a byte a row for each
 * participant.  SIZE_MAX when there are too many rows or participants.
 */
extern size_t gs_shared_sort_bytes(uint64_t nrows, unsigned nplanes, unsigned participants);

/*
 * Before any participant begins: a sort by at most so many.  The memory is aligned to 64 bytes.  Of
 * the args, only numbers count here.
 */
extern gs_status gs_shared_sort_init(gs_shared_sort *shared, const gs_sort_args *args,
									 unsigned participants);

/* Bytes of memory that a participant needs for itself. */
extern size_t gs_participant_bytes(uint64_t nrows, unsigned participants);

/*
 * Take part.  The memory is aligned to 64 bytes.  Args are the same for all but for addresses, flags
 * and progress, and stay where they are; planes' numberings are each participant's own.  NULL if there are
 * as many participants as were planned, those that have left included.
 */
extern gs_participant *gs_participant_begin(void *memory, gs_shared_sort *shared,
											const gs_sort_args *args);

/*
 * Do pieces of a phase until none is left.  GS_CANCELLED when one of the flags in args says so, or
 * when another participant has been cancelled: nobody can finish this sort any more.
 */
extern gs_status gs_participate(gs_participant *participant, uint32_t phase);

/* Is there nothing left to do in this phase or later?  All have finished those before. */
extern bool gs_shared_sort_done(const gs_shared_sort *shared, uint32_t phase);

/* The result, by the addresses of this participant; its layout lies in the participant's memory. */
extern void gs_participant_result(gs_participant *participant, gs_sort_result *result);

/* How many participants have begun. */
extern unsigned gs_shared_sort_participants(gs_shared_sort *shared);

#endif							/* GS_SHARED_SORT_H */
