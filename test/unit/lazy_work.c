/*
 * lazy_work.c
 *		What lazy devices have put off, and when it is done.
 */
#include <stdlib.h>

#include "engine/simulated/gs_simulated_device.h"
#include "keys.h"
#include "lazy_work.h"

void
lazy_count_call(lazy_group *group)
{
	if (group->calls_left > 0 && --group->calls_left == 0)
		*group->flag = 1;
}

void
lazy_drop_event(gs_event_ref event)
{
	gs_event_ref *link = &event->group->events;

	if (--event->references > 0)
		return;
	while (*link != event)
		link = &(*link)->next;
	*link = event->next;
	free(event);
}

static bool
may_go_on(const queue *q)
{
	return q->first != NULL &&
		(q->first->event == NULL || !q->first->waits || q->first->event->done);
}

/* Memory that a call keeps. */
typedef struct kept
{
	struct kept *next;
	void	   *memory;
} kept;

void *
lazy_keep(call *c, void *memory)
{
	kept	   *first = malloc(sizeof(*first));

	*first = (kept) {c->kept, memory};
	c->kept = first;
	return memory;
}

static void
free_call(call *c)
{
	kept	   *next;

	for (kept *k = c->kept; k != NULL; k = next)
	{
		next = k->next;
		free(k->memory);
		free(k);
	}
	if (c->event != NULL)
		lazy_drop_event(c->event);
	free(c);
}

/* How much longer a slow queue takes than others. */
#define SLOWNESS	1000

bool
lazy_work(lazy_group *group)
{
	queue	   *ready[GS_MAX_DEVICES * GS_QUEUES];
	unsigned	nready = 0;
	queue	   *q;
	call	   *c;

	for (unsigned d = 0; d < group->group.ndevices; d++)
		for (int i = 0; i < GS_QUEUES; i++)
			if (may_go_on(&group->devices[d].queues[i]))
				ready[nready++] = &group->devices[d].queues[i];
	if (nready == 0)
		return false;
	q = ready[random_word(&group->seed) % nready];
	while (q == group->slow && nready > 1 && random_word(&group->seed) % SLOWNESS > 0)
		q = ready[random_word(&group->seed) % nready];
	c = q->first;
	q->first = c->next;
	if (q->first == NULL)
		q->last = &q->first;
	if (c->run != NULL)
		c->run(c);
	free_call(c);
	return true;
}

call *
lazy_add_call(gs_device *device, gs_queue number, void (*run) (call *))
{
	lazy_device *lazy = lazy_of(device);
	queue	   *q = &lazy->queues[number];
	call	   *c = calloc(1, sizeof(*c));

	lazy_count_call(lazy->group);
	c->run = run;
	c->real = lazy->real;
	*q->last = c;
	q->last = &c->next;
	return c;
}

lazy_group *
lazy_group_open(unsigned g, size_t arena_bytes, uint64_t seed)
{
	lazy_group *lazy = calloc(1, sizeof(*lazy));

	lazy->seed = seed;
	lazy->group.ndevices = g;
	for (unsigned d = 0; d < g; d++)
	{
		lazy_device *device = &lazy->devices[d];

		device->device = (gs_device) {.ops = &lazy_device_ops, .index = d};
		device->group = lazy;
		device->real = gs_simulated_device_open(d, arena_bytes, 0);
		for (int q = 0; q < GS_QUEUES; q++)
			device->queues[q].last = &device->queues[q].first;
		lazy->group.devices[d] = &device->device;
	}
	if (seed % 2 == 1)
		lazy->slow = &lazy->devices[seed / 2 % g].queues[seed / 2 / g % GS_QUEUES];
	return lazy;
}

gs_group *
lazy_group_of(lazy_group *lazy)
{
	return &lazy->group;
}

void
lazy_group_set_at(lazy_group *lazy, volatile int *flag, uint64_t nth)
{
	lazy->flag = flag;
	lazy->calls_left = nth;
}

const char *
lazy_group_fault(const lazy_group *lazy)
{
	if (lazy->fault != NULL)
		return lazy->fault;
	if (lazy->events != NULL)
		return "events that were not released";
	for (unsigned d = 0; d < lazy->group.ndevices; d++)
		for (int q = 0; q < GS_QUEUES; q++)
		{
			if (lazy->devices[d].queues[q].first != NULL)
				return "work that nobody waited for";
			if (lazy->devices[d].queues[q].open_spans != 0)
				return "a span without an end";
		}
	return NULL;
}

void
lazy_group_close(lazy_group *lazy)
{
	for (unsigned d = 0; d < lazy->group.ndevices; d++)
		lazy->devices[d].real->ops->close(lazy->devices[d].real);
	free(lazy);
}
