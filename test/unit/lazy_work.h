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

/* One operation with its arguments; which of them are used depends on it. */
typedef struct call
{
	struct call *next;
	void		(*run) (struct call *call);
	gs_device  *real;
	gs_event_ref event;
	void	   *to;
	const void *from;
	gs_device  *from_device;
	size_t		bytes;
	gs_rows		rows;
	gs_plane_rows planes[GS_SECTION_MAX_BITS];
	gs_alphabets *alphabets;
	unsigned	nplanes;
	gs_section	section;
	gs_field	fields[GS_SECTION_MAX_BITS];
	uint64_t  **packed;
	gs_keys		keys;
	gs_counted	counted[GS_MAX_COUNTED];
	unsigned	ncounted;
	void	   *tile_counts;
	gs_scatter	scatter;
	gs_target	targets[GS_MAX_DEVICES];
	gs_pairs	pairs;
	gs_pairs	spare;
	unsigned	id_bytes;
	uint64_t	nrows;
	unsigned	low_bit;
	unsigned	bits;
	bool		flag;
	void	   *temp;
	const uint32_t *positions;
	uint32_t   *to_positions;
	uint64_t   *ranks;
	uint64_t	first;
	gs_tie_counts *counts;
	gs_checked_rows checked;
	gs_gather	gather;
	gs_text		text;
	uint64_t   *units;
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

/* Do the next operation of a queue that may go on; false if there is none. */
extern bool lazy_work(lazy_group *group);

/* Give up a reference to an event. */
extern void lazy_drop_event(gs_event_ref event);

#endif							/* LAZY_WORK_H */
