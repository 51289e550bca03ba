/*
 * gsd_holders.h
 *		Who holds memory of the pool, and how much more each may take.
 *
 * A process that sorts, or that keeps private memory for its next sort, has an entry
 * (gsd_holder) of its own.  What it holds of the pool is counted by those who change owner
 * words (gsd_pool.c), under the pid in the word, so that extents that workers take for their
 * leader's sort count as the leader's.
 *
 * Nothing is granted ahead.  Whenever a sort grows it asks how much more it may take, and the
 * answer depends on what is free at that moment and on who else wants some: see gsd_room().
 */
#ifndef GSD_HOLDERS_H
#define GSD_HOLDERS_H

#include "protocol/gsd_pool.h"

/* The least, in extents: what a sort of some thousand rows needs. */
#define GSD_LEAST_EXTENTS	8

/* Limits, each in per cent of the pool. */
typedef struct gsd_limits
{
	uint32_t	sort;
	uint32_t	session;		/* of all sorts of a session, with its parallel workers */
	uint32_t	role;			/* ... of all sessions of a role */
} gsd_limits;

/*
 * Enter a process, or count one more sort of it.  session is the pid of the process that
 * parallel workers work for, else its own.  False if there are too many entries: what such
 * a process takes is not counted.
 */
extern bool gsd_enter_sort(gsd_header *header, uint32_t pid, uint32_t session, uint32_t role);

/* A sort of the process is over; the last one takes the entry along, unless it is needed. */
extern void gsd_leave_sort(gsd_header *header, uint32_t pid);

/* One sort more, or less, of the process has got less than it asked for. */
extern void gsd_note_want(gsd_header *header, uint32_t pid, bool wants);

/*
 * The process keeps so much private memory for its next sort; it has an entry as long as that
 * is more than 0.  False, and nothing noted, if there are too many entries.
 */
extern bool gsd_note_kept(gsd_header *header, uint32_t pid, uint32_t session, uint32_t role,
						  uint64_t bytes);

/* ... all processes together. */
extern uint64_t gsd_kept_bytes(const gsd_header *header);

/* The process ends. */
extern void gsd_drop_holder(gsd_header *header, uint32_t pid);

/* For gsd_pool.c: an owner has one extent more, or less. */
extern void gsd_count_taken(gsd_header *header, uint32_t owner);
extern void gsd_count_given(gsd_header *header, uint32_t owner);

/* A sort that asks for more, or one that is only planned. */
typedef struct gsd_claim
{
	uint32_t	session;
	uint32_t	role;
	uint32_t	held;			/* extents that it has */
	gsd_limits	limits;
} gsd_claim;

/*
 * How many extents a sort may take now.  *is_short is set if it is others that keep it from
 * more than that, and its session has less than its even part of the pool.
 *
 *	(1) No more than are free, and than any of the limits leaves.
 *	(2) What a sort has after it is at most limits->sort per cent of what it has and what
 *		is free.  A sort that is alone gets its quota, the next one the same part of
 *		what that has left, and so on: each newcomer finds something, for as long as
 *		sorts hold on to what they have.  Of n sorts that grow side by side, with a quota
 *		of 3/4, each gets 3/(1 + 3n) of the pool.
 *	(3) The last sixteenth of the pool is for sorts that have less than a 64th of it, so
 *		that small ones pass large ones.
 *	(4) While another session is short, none takes more than its even part: an n-th of the
 *		pool, where n sessions sort.
 *	(5) But each sort gets GSD_LEAST_EXTENTS, if there are any.
 *
 * As dynamic thresholds do for queues that share a switch's memory (Choudhury and Hahne, 1998),
 * (2) needs no knowledge of what sorts will come to.
 */
extern uint32_t gsd_room(const gsd_header *header, const gsd_claim *claim, bool *is_short);

/* How many other sessions sort now, or have cursors on what they have sorted. */
extern uint32_t gsd_other_sessions(const gsd_header *header, uint32_t session);

/* Is another session short, while this one's has more than its even part? */
extern bool gsd_is_wanted(const gsd_header *header, const gsd_claim *claim);

/* The most that a sort may ever take, with the pool to itself. */
extern uint32_t gsd_most_extents(const gsd_header *header, const gsd_limits *limits);

#endif							/* GSD_HOLDERS_H */
