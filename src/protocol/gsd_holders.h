/*
 * gsd_holders.h
 *		Who holds memory of the pool, and how much more each may take.
 *
 * A process that sorts, or that keeps private memory for its next sort, has an entry (gsd_holder)
 * of its own.  The extents that it holds are counted by whichever process changes an owner word
 * (gsd_pool.c), under the pid in that word, so that extents that workers take for their leader's
 * sort count as the leader's.
 *
 * Nothing is granted ahead.  Whenever a sort grows it asks how much more it may take, and the
 * answer depends on what is free at that moment and on which other sorts want some: see gsd_room().
 */
#ifndef GSD_HOLDERS_H
#define GSD_HOLDERS_H

#include "protocol/gsd_pool.h"

/* The least that a sort gets, in extents: what a sort of some thousand rows needs. */
#define GSD_LEAST_EXTENTS	8

/* How much of the pool may be taken, each in per cent of it. */
typedef struct gsd_limits
{
	uint32_t	sort;
	uint32_t	session;		/* by all sorts of a session, with its parallel workers */
	uint32_t	role;			/* by all sessions of a role */
} gsd_limits;

/*
 * Makes an entry for the process pid, or counts one more sort in the one it has.  session is the
 * pid of the leader if the process is a parallel worker, else its own.  Returns false if there are
 * too many entries; then what the process takes is not counted.
 */
extern bool gsd_enter_sort(gsd_header *header, uint32_t pid, uint32_t session, uint32_t role);

/*
 * Counts one sort less of the process.  With the last sort goes the entry, unless the process still
 * has extents or keeps private memory.
 */
extern void gsd_leave_sort(gsd_header *header, uint32_t pid);

/*
 * Counts one sort more of the process, or one less if not `wants`, that has got less memory than it
 * asked for.
 */
extern void gsd_note_want(gsd_header *header, uint32_t pid, bool wants);

/*
 * Notes that the process keeps so many bytes of private memory for its next sort.  It has an entry
 * as long as that is more than 0.  Returns false, and notes nothing, if there are too many entries.
 */
extern bool gsd_note_kept(gsd_header *header, uint32_t pid, uint32_t session, uint32_t role,
						  uint64_t bytes);

/* Returns how much private memory all processes together keep for their next sorts. */
extern uint64_t gsd_kept_bytes(const gsd_header *header);

/* Gives back the entry of a process that ends. */
extern void gsd_drop_holder(gsd_header *header, uint32_t pid);

/*
 * For gsd_pool.c only: count one extent more, or one less, of the process whose pid is in an owner
 * word.
 */
extern void gsd_count_taken(gsd_header *header, uint32_t owner);
extern void gsd_count_given(gsd_header *header, uint32_t owner);

/* What a sort that asks for more memory has, or a sort that is only planned. */
typedef struct gsd_claim
{
	uint32_t	session;
	uint32_t	role;
	uint32_t	held;			/* extents that the sort has */
	gsd_limits	limits;
} gsd_claim;

/*
 * Returns how many extents a sort may take now.  *is_short is set if other sessions keep it from
 * taking more than that, and its own session has less than its even part of the pool.
 *
 *	(1) A sort takes no more than are free, and no more than any of the limits leaves.
 *	(2) What a sort has afterwards is at most limits->sort per cent of what it has now and
 *		what is free.  A sort that is alone gets its quota, the next one the same part of
 *		what the first has left, and so on: each newcomer finds something, for as long as
 *		sorts hold on to what they have.  Of n sorts that grow side by side, with a quota
 *		of 3/4, each gets 3/(1 + 3n) of the pool.
 *	(3) The last sixteenth of the pool is for sorts that have less than a 64th of it, so
 *		that small sorts pass large ones.
 *	(4) While another session is short, no session takes more than its even part: an n-th
 *		of the pool, where n sessions sort.
 *	(5) But each sort gets GSD_LEAST_EXTENTS, as far as they are free.
 *
 * Rule (2) needs no knowledge of how large sorts will become.  It is what dynamic thresholds do for
 * queues that share a switch's memory (Choudhury and Hahne, 1998).
 */
extern uint32_t gsd_room(const gsd_header *header, const gsd_claim *claim, bool *is_short);

/* Returns how many other sessions sort now, or have cursors on what they have sorted. */
extern uint32_t gsd_other_sessions(const gsd_header *header, uint32_t session);

/*
 * Returns whether another session is short while the claim's session has more than its even part.
 */
extern bool gsd_is_wanted(const gsd_header *header, const gsd_claim *claim);

/* Returns how many extents a sort may take at most, if it has the pool to itself. */
extern uint32_t gsd_most_extents(const gsd_header *header, const gsd_limits *limits);

#endif							/* GSD_HOLDERS_H */
