/*
 * lazy_device.c
 *		Devices that put everything off, and then do it in an odd order.
 *
 * On a simulated device an operation is done when it returns, so that a forgotten
 * event, or an argument that does not live long enough, changes nothing.  Here
 * operations wait in queues until somebody waits for an event; then one queue's
 * next operation after the other is done, always of a queue drawn at random from
 * those that may go on.  Any order that a real device might choose can come up.  With every other
 * seed one queue is slow, and lags far behind the others.
 *
 * Arguments in host memory, as gs_operation_list.h has them, are copied at once, as they
 * must be; but not the source of an upload and the target of a download.  What is freed may
 * be poisoned by the simulated device below, so that a sanitizer sees operations that come
 * too late.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keys.h"
#include "lazy_work.h"

/* The real device must do what it is told. */
static void
expect_ok(const call *c, gs_status status)
{
	if (status == GS_OK)
		return;
	fprintf(stderr, "simulated device: %s\n", c->real->error);
	abort();
}

/* ---------- arguments in host memory ---------- */

static void *
keep_copy(call *c, const void *array, size_t bytes)
{
	return array == NULL ? NULL : lazy_keep(c, memcpy(malloc(bytes + 1), array, bytes));
}

#define KEEP(array, count)	((array) = keep_copy(c, array, (count) * sizeof(*(array))))

/* What gs_operation_list.h says of an argument. */
typedef struct host_memory
{
	size_t		bytes;
	uint64_t	segments;
} host_memory;

/* Any argument of which no more is said below: it is a pointer if there are bytes. */
static void
keep_array(call *c, void *argument, host_memory m)
{
	void	   *array;

	if (m.bytes == 0)
		return;
	memcpy(&array, argument, sizeof(array));
	array = keep_copy(c, array, m.bytes);
	memcpy(argument, &array, sizeof(array));
}

static void
use_real(call *c, gs_device **device, host_memory m)
{
	*device = lazy_of(*device)->real;
}

static void
keep_keys(call *c, gs_keys *keys, host_memory m)
{
	KEEP(keys->words, m.segments);
}

static void
keep_plane(call *c, gs_plane_rows *plane, host_memory m)
{
	KEEP(plane->words, m.segments);
	KEEP(plane->nulls, m.segments);
}

static void
keep_planes(call *c, const gs_plane_rows **planes, host_memory m)
{
	gs_plane_rows *kept = keep_copy(c, *planes, m.bytes);

	for (size_t i = 0; i < m.bytes / sizeof(*kept); i++)
		keep_plane(c, &kept[i], m);
	*planes = kept;
}

static void
keep_section(call *c, const gs_section **section, host_memory m)
{
	gs_section *kept = keep_copy(c, *section, m.bytes);

	for (unsigned i = 0; i < kept->npieces; i++)
		KEEP(kept->pieces[i].field, 1);
	*section = kept;
}

static void
keep_scatter(call *c, const gs_scatter **scatter, host_memory m)
{
	gs_scatter *kept = keep_copy(c, *scatter, m.bytes);

	KEEP(kept->keys.words, gs_rows_segments(kept->rows));
	KEEP(kept->tree, 1);
	KEEP(kept->targets, kept->ntargets);
	*scatter = kept;
}

/* The slabs of stored rows are listed in host memory. */
static void
keep_gather(call *c, const gs_gather **gather, host_memory m)
{
	gs_gather  *kept = keep_copy(c, *gather, m.bytes);

	KEEP(kept->from.slabs, (kept->from.bytes + GS_SLAB_BYTES - 1) >> GS_SLAB_SHIFT);
	*gather = kept;
}

/* Which of these keeps an argument, by its type. */
#define KEEPER(argument) \
	_Generic(argument, \
			 gs_device *: use_real, \
			 gs_keys: keep_keys, \
			 gs_plane_rows: keep_plane, \
			 const gs_plane_rows *: keep_planes, \
			 const gs_section *: keep_section, \
			 const gs_scatter *: keep_scatter, \
			 const gs_gather *: keep_gather, \
			 default: keep_array)

/* ---------- devices, memory and events ---------- */

static void
close_device(gs_device *device)
{
	lazy_of(device)->real->ops->close(lazy_of(device)->real);
}

static void
device_info(gs_device *device, gs_device_info *info)
{
	lazy_of(device)->real->ops->info(lazy_of(device)->real, info);
}

static bool
can_reach(gs_device *device, gs_device *peer)
{
	return true;
}

static gs_status
host_register(gs_device *device, void *base, size_t bytes)
{
	return GS_OK;
}

static void
host_unregister(gs_device *device, void *base)
{
}

static void *
alloc_memory(gs_device *device, size_t bytes)
{
	return lazy_of(device)->real->ops->alloc(lazy_of(device)->real, bytes);
}

static void
free_memory(gs_device *device, void *memory)
{
	lazy_of(device)->real->ops->free(lazy_of(device)->real, memory);
}

static size_t
largest_free(gs_device *device)
{
	return lazy_of(device)->real->ops->largest_free(lazy_of(device)->real);
}

static void
run_record(call *c)
{
	c->event->done = true;
}

static gs_status
record(gs_device *device, gs_queue queue, gs_event_ref *event)
{
	lazy_group *group = lazy_of(device)->group;
	call	   *c = lazy_add_call(device, queue, run_record);

	*event = malloc(sizeof(**event));
	**event = (struct gs_event) {2, false, true, group, device, group->events};
	group->events = *event;
	c->event = *event;
	return GS_OK;
}

static gs_status
wait_event(gs_device *device, gs_queue queue, gs_event_ref event)
{
	call	   *c = lazy_add_call(device, queue, NULL);

	event->references++;
	c->event = event;
	c->waits = true;
	return GS_OK;
}

static gs_status
sync_event(gs_device *device, gs_event_ref event)
{
	lazy_count_call(event->group);
	while (!event->done && lazy_work(event->group))
		;
	if (!event->done)
		event->group->fault = "an event that can't come";
	return event->done ? GS_OK : GS_DEVICE_ERROR;
}

/* Whoever asks lets some time pass. */
static bool
event_done(gs_device *device, gs_event_ref event)
{
	unsigned	steps = 1 + random_word(&event->group->seed) % 32;

	lazy_count_call(event->group);
	while (steps-- > 0 && !event->done)
		if (!lazy_work(event->group))
			return true;
	return event->done;
}

static void
release_event(gs_device *device, gs_event_ref event)
{
	if (event->device != device)
		event->group->fault = "an event released through another device";
	event->owned = false;
	lazy_drop_event(event);
}

static gs_status
reset(gs_device *device)
{
	lazy_device *lazy = lazy_of(device);
	gs_event_ref next;

	while (lazy_work(lazy->group))
		;
	for (gs_event_ref event = lazy->group->events; event != NULL; event = next)
	{
		next = event->next;
		if (event->device == device && event->owned)
			release_event(device, event);
	}
	for (int i = 0; i < GS_QUEUES; i++)
		lazy->queues[i].open_spans = 0;
	return GS_OK;
}

static gs_status
sync_queue(gs_device *device, gs_queue queue)
{
	gs_event_ref event;
	gs_status	status;

	record(device, queue, &event);
	status = sync_event(device, event);
	release_event(device, event);
	return status;
}

/* ---------- operations ---------- */

#define MEMBER(type, name, ...)	__typeof__(type) name;
#define STORE(type, name, ...) \
	a->name = name; \
	KEEPER(a->name) (c, &a->name, (host_memory) {__VA_ARGS__});
#define STORED(type, name, ...)	, a->name
#define PASSED(type, name, ...)	, name

/* An operation is put off, with its arguments; `a` has these. */
#define GS_OPERATION(operation, ...) \
typedef struct operation##_arguments \
{ \
	GS_MAP(MEMBER, __VA_ARGS__) \
} operation##_arguments; \
static void \
run_##operation(call *c) \
{ \
	const operation##_arguments *a = c->arguments; \
	expect_ok(c, c->real->ops->operation(c->real, GS_QUEUE_WORK GS_MAP(STORED, __VA_ARGS__))); \
} \
static gs_status \
put_off_##operation(gs_device *device, gs_queue queue GS_MAP(GS_PARAMETER, __VA_ARGS__)) \
{ \
	call	   *c = lazy_add_call(device, queue, run_##operation); \
	operation##_arguments *a = lazy_keep(c, malloc(sizeof(*a))); \
	c->arguments = a; \
	GS_MAP(STORE, __VA_ARGS__) \
	return GS_OK; \
}
#define GS_ANSWERING(operation, ...) \
GS_OPERATION(operation, __VA_ARGS__) \
static gs_status \
wait_for_##operation(gs_device *device, gs_queue queue GS_MAP(GS_PARAMETER, __VA_ARGS__)) \
{ \
	put_off_##operation(device, queue GS_MAP(PASSED, __VA_ARGS__)); \
	return sync_queue(device, queue); \
}
/* The device below answers at once. */
#define GS_TEMP_BYTES(operation, ...) \
static size_t \
ask_##operation(gs_device *device GS_MAP(GS_PARAMETER, __VA_ARGS__)) \
{ \
	gs_device  *real = lazy_of(device)->real; \
	return real->ops->operation(real GS_MAP(PASSED, __VA_ARGS__)); \
}
#include "engine/device/gs_operation_list.h"

/* Where the result lies is said at once, and then it is brought there. */
typedef struct sort_arguments
{
	gs_pairs	pairs;
	gs_pairs	spare;
	unsigned	id_bytes;
	uint64_t	nrows;
	unsigned	low_bit;
	unsigned	bits;
	void	   *temp;
	bool		in_spare;
} sort_arguments;

static void
run_sort(call *c)
{
	const sort_arguments *a = c->arguments;
	gs_pairs	to = a->in_spare ? a->spare : a->pairs;
	gs_pairs	other = a->in_spare ? a->pairs : a->spare;
	bool		in_spare;

	expect_ok(c, c->real->ops->sort(c->real, GS_QUEUE_WORK, a->pairs, a->spare, a->id_bytes,
									a->nrows, a->low_bit, a->bits, a->temp, &in_spare));
	if (in_spare != a->in_spare)
	{
		memcpy(to.keys, other.keys, a->nrows * sizeof(uint64_t));
		memcpy(to.ids, other.ids, a->nrows * a->id_bytes);
	}
	memset(other.keys, 0x5a, a->nrows * sizeof(uint64_t));
	memset(other.ids, 0x5a, a->nrows * a->id_bytes);
}

static gs_status
put_off_sort(gs_device *device, gs_queue queue, gs_pairs pairs, gs_pairs spare, unsigned id_bytes,
			 uint64_t nrows, unsigned low_bit, unsigned bits, void *temp, bool *in_spare)
{
	call	   *c = lazy_add_call(device, queue, run_sort);
	sort_arguments *a = lazy_keep(c, malloc(sizeof(*a)));

	*in_spare = random_word(&lazy_of(device)->group->seed) & 1;
	*a = (sort_arguments) {pairs, spare, id_bytes, nrows, low_bit, bits, temp, *in_spare};
	c->arguments = a;
	return GS_OK;
}

/* ---------- traces ---------- */

static void
keep_trace(gs_device *device, bool keep)
{
}

static void
span_begin(gs_device *device, gs_queue queue, const char *name)
{
	lazy_device *lazy = lazy_of(device);

	if (lazy->queues[queue].open_spans++ > 0)
		lazy->group->fault = "a span within a span";
}

static void
span_end(gs_device *device, gs_queue queue)
{
	lazy_device *lazy = lazy_of(device);

	if (lazy->queues[queue].open_spans-- == 0)
		lazy->group->fault = "the end of no span";
}

static unsigned
read_trace(gs_device *device, gs_span_time *spans, unsigned max)
{
	return 0;
}

const gs_device_ops lazy_device_ops = {
	.close = close_device,
	.info = device_info,
	.can_reach = can_reach,
	.host_register = host_register,
	.host_unregister = host_unregister,
	.alloc = alloc_memory,
	.free = free_memory,
	.largest_free = largest_free,
	.record = record,
	.wait = wait_event,
	.sync = sync_event,
	.done = event_done,
	.release = release_event,
	.reset = reset,
	.sort = put_off_sort,
#define GS_OPERATION(name, ...)		.name = put_off_##name,
#define GS_ANSWERING(name, ...)		.name = wait_for_##name,
#define GS_TEMP_BYTES(name, ...)	.name = ask_##name,
#include "engine/device/gs_operation_list.h"
	.keep_trace = keep_trace,
	.span_begin = span_begin,
	.span_end = span_end,
	.read_trace = read_trace,
};
