/*
 * lazy_work.h
 *		What lazy devices have put off.
 */
#ifndef LAZY_WORK_H
#define LAZY_WORK_H

#include "lazy_device.h"

/* Gone when neither its owner nor a queue needs it. */
struct gs_event
{
	unsigned	references;
	bool		done;
	bool		owned;			/* not released yet */
	lazy_group *group;
	gs_device  *device;
	gs_event_ref next;			/* of all of the group */
};

/* One operation with its arguments, and what it keeps until it is done. */
typedef struct call
{
	struct call *next;
	void		(*run) (struct call *call);
	gs_device  *real;
	gs_event_ref event;
	bool		waits;			/* for the event */
	void	   *arguments;
	struct kept *kept;
} call;

typedef struct queue
{
	call	   *first;
	call	  **last;
	int			open_spans;
} queue;

typedef struct lazy_device
{
	gs_device	device;			/* must be first */
	lazy_group *group;
	gs_device  *real;
	queue		queues[GS_QUEUES];
} lazy_device;

struct lazy_group
{
	gs_group	group;
	lazy_device devices[GS_MAX_DEVICES];
	uint64_t	seed;
	queue	   *slow;			/* a queue that rarely goes on while others can; or NULL */
	gs_event_ref events;
	const char *fault;
	volatile int *flag;
	uint64_t	calls_left;		/* until it is set; 0: never */
};

static inline lazy_device *
lazy_of(gs_device *device)
{
	return (lazy_device *) device;
}

extern const gs_device_ops lazy_device_ops;

/* Take note that a device was called; the flag may be due. */
extern void lazy_count_call(lazy_group *group);

/* Put an operation off; the caller fills in its arguments. */
extern call *lazy_add_call(gs_device *device, gs_queue number, void (*run) (call *));

/* Have memory freed when a call has been done; returns it. */
extern void *lazy_keep(call *c, void *memory);

/* Do the next operation of a queue that may go on; false if there is none. */
extern bool lazy_work(lazy_group *group);

/* Give up a reference to an event. */
extern void lazy_drop_event(gs_event_ref event);

#endif							/* LAZY_WORK_H */
