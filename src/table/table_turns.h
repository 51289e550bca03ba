/*
 * table_turns.h
 *		The order in which pages become blocks of a table.
 */
#ifndef GPUSORT_TABLE_TURNS_H
#define GPUSORT_TABLE_TURNS_H

#include "port/atomics.h"
#include "storage/condition_variable.h"
#include "storage/spin.h"

/*
 * Slices of rows are dealt out to several processes.  A process that has nothing to do takes the
 * next slice, and fills pages of its own.  When it is the slice's turn, these pages become the
 * next blocks of the table, and the turn passes to the next slice.  Slices are taken in order,
 * so some process has taken the slice whose turn it is.  A worker that can't do its slice leaves
 * it to the leader, at the slice's turn.
 */

/* State of the turns.  In shared memory if there are workers. */
typedef struct GpuSortTurns
{
	pg_atomic_uint64 next;		/* first slice that no process has taken */

	slock_t		mutex;			/* protects `turn` and `left` */
	uint64		turn;			/* slice whose pages become the next blocks */
	bool		left;			/* a worker has left that slice to the leader */
	ConditionVariable turned;
} GpuSortTurns;

/* Begin with the first slice, whose turn it is then. */
extern void gpusort_turns_init(GpuSortTurns *turns);

/*
 * Returns the next slice, for this process to take.  There are no more if it is not below the
 * number of slices.
 */
static inline uint64
gpusort_turns_take(GpuSortTurns *turns)
{
	return pg_atomic_fetch_add_u64(&turns->next, 1);
}

/*
 * Wait until it is this slice's turn, and return true.  In the leader, returns false if there is
 * another slice to do first, *left, which a worker has left: it is that slice's turn, and the
 * leader has to do it and pass the turn on.
 */
extern bool gpusort_turns_await(GpuSortTurns *turns, uint64 slice, uint64 *left);

/* Pass the turn on to the next slice, once the slice's pages have their blocks. */
extern void gpusort_turns_pass(GpuSortTurns *turns, uint64 slice);

/* Leave the slice, whose turn it is, to the leader. */
extern void gpusort_turns_leave(GpuSortTurns *turns, uint64 slice);

#endif							/* GPUSORT_TABLE_TURNS_H */
