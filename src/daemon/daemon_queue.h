/*
 * daemon_queue.h
 *		The queue of the jobs that are ready to be sorted: whose turn it is.
 *
 * Small jobs pass large ones, and no job waits for ever.  Time is counted in rows: in the rows of
 * the jobs that have had their turn.  A job is due when GSD_QUEUE_PATIENCE times its own rows have
 * been sorted since it came, and the job that is due first is next.  So a job waits for those that
 * came before it, and of those that come later only for smaller ones, and only until it is due.
 */
#ifndef DAEMON_QUEUE_H
#define DAEMON_QUEUE_H

#include <stdint.h>

#include "protocol/gsd_pool.h"

/* Smaller jobs that come later pass a job with so many times its rows, at most. */
#define GSD_QUEUE_PATIENCE	4

typedef struct gsd_place
{
	uint64_t	arrival;		/* the how-manieth job to come this is; 0: it does not wait */
	uint64_t	rows;
	uint64_t	due;			/* when the job is due: how many rows will have been sorted */
} gsd_place;

/* The jobs that wait, by number of the job.  All zeros is an empty queue. */
typedef struct gsd_queue
{
	uint64_t	arrivals;
	uint64_t	sorted_rows;
	gsd_place	places[GSD_MAX_JOBS];
} gsd_queue;

/* Puts a job into the queue; rows is what its session says. */
extern void gsd_queue_enter(gsd_queue *queue, unsigned job, uint64_t rows);

/* Takes a job out of the queue, if it is there. */
extern void gsd_queue_leave(gsd_queue *queue, unsigned job);

/*
 * Takes the job whose turn it is out of the queue, and returns its number, or -1 if no job waits.
 */
extern int	gsd_queue_take(gsd_queue *queue);

#endif							/* DAEMON_QUEUE_H */
