/*
 * gs_shared_sort.h
 *		The engine on the host, by any number of participants.
 *
 * Participants are processes or threads that map the same memory, at whatever addresses: the
 * planes, the workspace, the bitmap of equal rows, and the struct gs_shared_sort with what lies
 * behind it.  The engine never waits: the sort is cut into phases, and a phase into pieces that any
 * participant takes.  Each participant does
 *
 *		participant = gs_participant_begin(memory, shared, args);
 *		for (phase = 0; !gs_shared_sort_done(shared, phase); phase++)
 *		{
 *			status = gs_participate(participant, phase);
 *			wait until all participants have come as far, or have gone
 *		}
 *
 * The wait is the caller's: a barrier of the server's, or of threads.  A participant may come late,
 * in whatever phase the others are, if the barrier lets it in; and it may leave when the others do
 * not wait for it any more.  A participant that has not come is not waited for.  But one that dies
 * in the middle of a piece leaves a sort that can't be finished; since planes are only read, the
 * sort may be done again from the start.
 *
 * The result is that of gs_sort(), whichever participant has done what.
 */
#ifndef GS_SHARED_SORT_H
#define GS_SHARED_SORT_H

#include "engine/host/gs_sort.h"

/* Most participants of one sort. */
#define GS_MAX_PARTICIPANTS	1024

typedef struct gs_shared_sort gs_shared_sort;
typedef struct gs_participant gs_participant;

/*
 * Returns the bytes that participants share beside the workspace: some kB, and 1/50 of a byte a row
 * for each participant; or SIZE_MAX if there are too many rows or participants.
 */
extern size_t gs_shared_sort_bytes(uint64_t nrows, unsigned nplanes, unsigned participants);

/*
 * Sets up a sort by at most so many participants, before any of them begins.  The memory is aligned
 * to 64 bytes.  Only the numbers in args matter here, not its pointers.
 */
extern gs_status gs_shared_sort_init(gs_shared_sort *shared, const gs_sort_args *args,
									 unsigned participants);

/* Returns the bytes of memory that a participant needs for itself. */
extern size_t gs_participant_bytes(uint64_t nrows, unsigned participants);

/*
 * Makes a participant in `memory`, which is aligned to 64 bytes.  Args are the same for all
 * participants but for addresses, flags and progress, and have to stay where they are; each
 * participant has its own numberings of planes.  Returns NULL if there have been as many
 * participants as were planned, with those that have left.
 */
extern gs_participant *gs_participant_begin(void *memory, gs_shared_sort *shared,
											const gs_sort_args *args);

/*
 * Does pieces of a phase until none is left.  Returns GS_CANCELLED if one of the flags in args says
 * so, or if another participant has been cancelled: then this sort can't be finished any more.
 */
extern gs_status gs_participate(gs_participant *participant, uint32_t phase);

/*
 * Returns whether there is nothing left to do in this phase or later.  All participants have
 * finished the phases before.
 */
extern bool gs_shared_sort_done(const gs_shared_sort *shared, uint32_t phase);

/*
 * Sets *result, by the addresses of this participant; its layout lies in the participant's memory.
 */
extern void gs_participant_result(gs_participant *participant, gs_sort_result *result);

/* Returns how many participants have begun. */
extern unsigned gs_shared_sort_participants(gs_shared_sort *shared);

#endif							/* GS_SHARED_SORT_H */
