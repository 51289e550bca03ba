/*
 * lazy_device.c
 *		Devices that put everything off, and then do it in an odd order.
 *
 * On a simulated device an operation is done when it returns, so that a forgotten
 * event, or an argument that does not live long enough, changes nothing.  Here
 * operations wait in queues until somebody waits for an event; then one queue's
 * next operation after the other is done, always of a queue drawn at random from
 * those that may go on.  Any order that a real device might choose can come up.
 *
 * Arguments in host memory are copied at once, as they must be, except for the
 * source of an upload and the target of a download.  What is freed may be poisoned
 * by the simulated device below, so that a sanitizer sees operations that come too late.
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

/* ---------- a table of operations and their arguments ---------- */

/* MAP(m, (a, b), (c, d)) is m(a, b) m(c, d), of up to ten. */
#define MAP_1(m, x)			m x
#define MAP_2(m, x, ...)	m x MAP_1(m, __VA_ARGS__)
#define MAP_3(m, x, ...)	m x MAP_2(m, __VA_ARGS__)
#define MAP_4(m, x, ...)	m x MAP_3(m, __VA_ARGS__)
#define MAP_5(m, x, ...)	m x MAP_4(m, __VA_ARGS__)
#define MAP_6(m, x, ...)	m x MAP_5(m, __VA_ARGS__)
#define MAP_7(m, x, ...)	m x MAP_6(m, __VA_ARGS__)
#define MAP_8(m, x, ...)	m x MAP_7(m, __VA_ARGS__)
#define MAP_9(m, x, ...)	m x MAP_8(m, __VA_ARGS__)
#define MAP_10(m, x, ...)	m x MAP_9(m, __VA_ARGS__)
#define MAP_CHOOSE(a, b, c, d, e, f, g, h, i, j, chosen, ...)	chosen
#define MAP(m, ...) \
	MAP_CHOOSE(__VA_ARGS__, MAP_10, MAP_9, MAP_8, MAP_7, MAP_6, MAP_5, MAP_4, MAP_3, MAP_2, MAP_1) \
	(m, __VA_ARGS__)

#define MEMBER(type, name)		__typeof__(type) name;
#define PARAMETER(type, name)	, __typeof__(type) name
#define STORE(type, name)		a->name = name;
#define STORED(type, name)		, a->name
#define PASSED(type, name)		, name

/*
 * An operation that is put off, and its arguments, each a type and a name, as gs_device_ops has
 * them.  keep is what is done with those that lie in host memory; `c` is the call, and `a` has the
 * arguments.
 */
#define PUT_OFF(operation, keep, ...) \
typedef struct operation##_arguments \
{ \
	MAP(MEMBER, __VA_ARGS__) \
} operation##_arguments; \
static void \
run_##operation(call *c) \
{ \
	const operation##_arguments *a = c->arguments; \
	expect_ok(c, c->real->ops->operation(c->real, GS_QUEUE_WORK MAP(STORED, __VA_ARGS__))); \
} \
static gs_status \
put_off_##operation(gs_device *device, gs_queue queue MAP(PARAMETER, __VA_ARGS__)) \
{ \
	call	   *c = lazy_add_call(device, queue, run_##operation); \
	operation##_arguments *a = lazy_keep(c, malloc(sizeof(*a))); \
	c->arguments = a; \
	MAP(STORE, __VA_ARGS__) \
	keep; \
	return GS_OK; \
}

/* One that waits for its answer. */
#define WAIT_FOR(operation, keep, ...) \
PUT_OFF(operation, keep, __VA_ARGS__) \
static gs_status \
wait_for_##operation(gs_device *device, gs_queue queue MAP(PARAMETER, __VA_ARGS__)) \
{ \
	put_off_##operation(device, queue MAP(PASSED, __VA_ARGS__)); \
	return sync_queue(device, queue); \
}

/* A question that the device below answers at once. */
#define ASK(result, operation, ...) \
static result \
ask_##operation(gs_device *device MAP(PARAMETER, __VA_ARGS__)) \
{ \
	gs_device  *real = lazy_of(device)->real; \
	return real->ops->operation(real MAP(PASSED, __VA_ARGS__)); \
}

/* ---------- arguments in host memory ---------- */

static void *
keep_array(call *c, const void *array, uint64_t count, size_t bytes)
{
	return array == NULL ? NULL :
		lazy_keep(c, memcpy(malloc(count * bytes + 1), array, count * bytes));
}

#define KEEP(array, count)	((array) = keep_array(c, array, count, sizeof(*(array))))

static void
keep_plane(call *c, gs_plane_rows *plane, uint64_t nsegments)
{
	KEEP(plane->words, nsegments);
	KEEP(plane->nulls, nsegments);
}

static void
keep_planes(call *c, const gs_plane_rows **planes, unsigned nplanes, uint64_t nsegments)
{
	gs_plane_rows *kept = keep_array(c, *planes, nplanes, sizeof(**planes));

	for (unsigned i = 0; i < nplanes; i++)
		keep_plane(c, &kept[i], nsegments);
	*planes = kept;
}

static void
keep_section(call *c, const gs_section **section)
{
	gs_section *kept = keep_array(c, *section, 1, sizeof(**section));

	for (unsigned i = 0; i < kept->npieces; i++)
		KEEP(kept->pieces[i].field, 1);
	*section = kept;
}

static void
keep_scatter(call *c, const gs_scatter **scatter)
{
	gs_scatter *kept = keep_array(c, *scatter, 1, sizeof(**scatter));

	KEEP(kept->keys.words, gs_rows_segments(kept->rows));
	KEEP(kept->tree, 1);
	KEEP(kept->targets, kept->ntargets);
	*scatter = kept;
}

/* The slabs of stored rows are listed in host memory. */
static void
keep_gather(call *c, const gs_gather **gather)
{
	gs_gather  *kept = keep_array(c, *gather, 1, sizeof(**gather));

	KEEP(kept->from.slabs, (kept->from.bytes + GS_SLAB_BYTES - 1) >> GS_SLAB_SHIFT);
	*gather = kept;
}

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

PUT_OFF(upload,, (void *, to), (const void *, from), (size_t, bytes))
PUT_OFF(download,, (void *, to), (const void *, from), (size_t, bytes))
PUT_OFF(copy, a->from_device = lazy_of(from_device)->real,
		(void *, to), (gs_device *, from_device), (const void *, from), (size_t, bytes))
PUT_OFF(clear,, (void *, memory), (size_t, bytes))
PUT_OFF(plane_stats, keep_plane(c, &a->plane, gs_rows_segments(rows)),
		(gs_rows, rows), (gs_plane_rows, plane), (gs_plane_stats *, stats),
		(gs_alphabets *, alphabets))
PUT_OFF(pack, keep_section(c, &a->section);
		keep_planes(c, &a->planes, section->npieces, gs_rows_segments(rows));
		KEEP(a->packed, gs_rows_segments(rows)),
		(gs_rows, rows), (const gs_section *, section), (const gs_plane_rows *, planes),
		(uint64_t *const *, packed))
PUT_OFF(histogram, KEEP(a->keys.words, gs_rows_segments(rows)); KEEP(a->counted, ncounted),
		(gs_rows, rows), (gs_keys, keys), (unsigned, ncounted), (const gs_counted *, counted),
		(uint64_t (*)[GS_DEVICE_DIGITS], counts), (void *, tile_counts))
PUT_OFF(scatter, keep_scatter(c, &a->scatter), (const gs_scatter *, scatter))
PUT_OFF(sort_runs,, (gs_pairs, pairs), (unsigned, id_bytes), (uint64_t, nrows), (unsigned, low_bit),
		(void *, temp), (uint32_t *, unsorted))
PUT_OFF(mark_equal,, (const uint64_t *, keys), (const uint32_t *, positions), (uint64_t, nrows),
		(bool, tied), (unsigned, first_bit), (uint32_t *, bitmap))
WAIT_FOR(find_ties,, (const uint64_t *, keys), (uint64_t, nrows), (uint64_t *, ranks),
		 (void *, temp), (gs_tie_counts *, counts))
PUT_OFF(take_ties, keep_section(c, &a->section);
		keep_planes(c, &a->planes, section->npieces, job_segments),
		(gs_pairs, from), (const uint32_t *, positions), (const uint64_t *, ranks),
		(uint64_t, nrows), (unsigned, id_bytes), (const gs_section *, section),
		(const gs_plane_rows *, planes), (uint64_t, job_segments), (uint32_t *, to_positions),
		(gs_pairs, to))
PUT_OFF(put_ids,, (void *, ids), (const uint32_t *, positions), (const void *, from_ids),
		(unsigned, id_bytes), (uint64_t, nrows))
PUT_OFF(count_up,, (void *, ids), (unsigned, id_bytes), (uint64_t, first), (uint64_t, nrows))
PUT_OFF(sum_rows, KEEP(a->keys.words, gs_rows_segments(rows)),
		(gs_rows, rows), (gs_keys, keys), (gs_row_sums *, sums))
PUT_OFF(check_rows, KEEP(a->rows, 1), (const gs_checked_rows *, rows), (gs_order_check *, check))
WAIT_FOR(place_rows, keep_gather(c, &a->gather), (const gs_gather *, gather), (uint64_t *, units))
PUT_OFF(gather_rows, keep_gather(c, &a->gather), (const gs_gather *, gather))
PUT_OFF(find_fields, KEEP(a->text, 1), (const gs_text *, text))

ASK(size_t, tile_counts_bytes, (gs_rows, rows))
ASK(size_t, scatter_temp_bytes, (gs_rows, rows))
ASK(size_t, sort_temp_bytes, (unsigned, id_bytes), (uint64_t, nrows))
ASK(size_t, ties_temp_bytes, (uint64_t, nrows))
ASK(size_t, place_temp_bytes, (uint64_t, nrows))
ASK(size_t, find_fields_temp_bytes, (uint32_t, bytes))

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
	.upload = put_off_upload,
	.download = put_off_download,
	.copy = put_off_copy,
	.clear = put_off_clear,
	.plane_stats = put_off_plane_stats,
	.pack = put_off_pack,
	.histogram = put_off_histogram,
	.tile_counts_bytes = ask_tile_counts_bytes,
	.scatter = put_off_scatter,
	.scatter_temp_bytes = ask_scatter_temp_bytes,
	.sort = put_off_sort,
	.sort_temp_bytes = ask_sort_temp_bytes,
	.sort_runs = put_off_sort_runs,
	.mark_equal = put_off_mark_equal,
	.find_ties = wait_for_find_ties,
	.ties_temp_bytes = ask_ties_temp_bytes,
	.take_ties = put_off_take_ties,
	.put_ids = put_off_put_ids,
	.count_up = put_off_count_up,
	.sum_rows = put_off_sum_rows,
	.check_rows = put_off_check_rows,
	.place_rows = wait_for_place_rows,
	.place_temp_bytes = ask_place_temp_bytes,
	.gather_rows = put_off_gather_rows,
	.find_fields = put_off_find_fields,
	.find_fields_temp_bytes = ask_find_fields_temp_bytes,
	.keep_trace = keep_trace,
	.span_begin = span_begin,
	.span_end = span_end,
	.read_trace = read_trace,
};
