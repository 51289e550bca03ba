/*
 * heap_turns.h
 *		Slices of rows that several processes make into pages, each some of them, and the order in which
 *		these become blocks of a table.
 *
 * Whoever has nothing to do takes the next slice, and fills pages of its own.  When it is the slice's turn
 * they become the next blocks, and the turn goes on.  Slices are taken in order, so the one whose turn
 * it is has been taken by somebody; a worker that can't do it leaves it to the leader, at its turn.
 */
#ifndef GPUSORT_HEAP_TURNS_H
#define GPUSORT_HEAP_TURNS_H

#include "port/atomics.h"
#include "storage/condition_variable.h"
#include "storage/spin.h"

/* In shared memory, if there are workers. */
typedef struct GpuSortTurns
{
	pg_atomic_uint64 next;		/* slice that nobody has taken */

	slock_t		mutex;			/* of the following */
	uint64		turn;			/* the slice whose pages are the next blocks */
	bool		left;			/* ... which a worker has left to the leader */
	ConditionVariable turned;
} GpuSortTurns;

extern void gpusort_turns_init(GpuSortTurns *turns);

/* A slice for this process, if it exists. */
static inline uint64
gpusort_turns_take(GpuSortTurns *turns)
{
	return pg_atomic_fetch_add_u64(&turns->next, 1);
}

/*
 * Wait until it is a slice's turn: true.  Or false: the leader is to do another one, *left, whose turn
 * it is, and pass it on.
 */
extern bool gpusort_turns_await(GpuSortTurns *turns, uint64 slice, uint64 *left);

/* Its pages have their blocks: let the next one have its turn. */
extern void gpusort_turns_pass(GpuSortTurns *turns, uint64 slice);

/* It is the slice's turn: the leader shall do it. */
extern void gpusort_turns_leave(GpuSortTurns *turns, uint64 slice);

#endif							/* GPUSORT_HEAP_TURNS_H */
