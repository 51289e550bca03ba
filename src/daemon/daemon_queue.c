/*
 * daemon_queue.c
 *		The queue of the jobs that are ready to be sorted; see daemon_jobs.h.
 */
#include "daemon/daemon_jobs.h"

/* Most rows that a job is taken to have, since a session may say anything. */
#define MAX_ROWS	UINT32_MAX

void
gsd_queue_enter(gsd_queue *queue, unsigned job, uint64_t rows)
{
	gsd_place  *place = &queue->places[job];

	place->arrival = ++queue->arrivals;
	place->rows = rows < MAX_ROWS ? rows : MAX_ROWS;
	place->due = queue->sorted_rows + GSD_QUEUE_PATIENCE * place->rows;
}

void
gsd_queue_leave(gsd_queue *queue, unsigned job)
{
	queue->places[job].arrival = 0;
}

/* Returns whether it is the first one's turn before the other's. */
static bool
is_before(const gsd_place *first, const gsd_place *other)
{
	return first->due != other->due ? first->due < other->due : first->arrival < other->arrival;
}

int
gsd_queue_take(gsd_queue *queue)
{
	int			next = -1;

	for (int job = 0; job < GSD_MAX_JOBS; job++)
		if (queue->places[job].arrival > 0 &&
			(next < 0 || is_before(&queue->places[job], &queue->places[next])))
			next = job;
	if (next >= 0)
	{
		queue->sorted_rows += queue->places[next].rows;
		gsd_queue_leave(queue, (unsigned) next);
	}
	return next;
}
