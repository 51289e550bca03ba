/*
 * daemon_queue.h
 *		Whose turn it is, of the jobs that are ready to be sorted.
 *
 * Small jobs pass large ones, and none waits for ever.  Time is counted in rows: those of the jobs
 * that have had their turn.  A job is due when so many times its own rows have been sorted since it
 * came; the one that is due first is next.  So a job waits for those that came before it, and of
 * those that come later only for such that are smaller, and only until it is due.
 */
#ifndef DAEMON_QUEUE_H
#define DAEMON_QUEUE_H

#include <stdint.h>

#include "protocol/gsd_pool.h"

/* A job is passed by so many times its own rows, at most. */
#define GSD_QUEUE_PATIENCE	4

typedef struct gsd_place
{
	uint64_t	arrival;		/* in the order of all; 0: does not wait */
	uint64_t	rows;
	uint64_t	due;			/* in rows */
} gsd_place;

/* All zero at first. */
typedef struct gsd_queue
{
	uint64_t	arrivals;
	uint64_t	sorted_rows;
	gsd_place	places[GSD_MAX_JOBS];
} gsd_queue;

/* A job waits from now on; rows: what its session says. */
extern void gsd_queue_enter(gsd_queue *queue, unsigned job, uint64_t rows);

/* It no longer does. */
extern void gsd_queue_leave(gsd_queue *queue, unsigned job);

/* Take the next one out, whose turn it is; -1: none waits. */
extern int	gsd_queue_take(gsd_queue *queue);

#endif							/* DAEMON_QUEUE_H */
