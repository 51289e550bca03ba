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

#define REAL(c, operation, ...) \
	expect_ok(c, (c)->real->ops->operation((c)->real, GS_QUEUE_WORK, __VA_ARGS__))

static void *
copy_array(const void *array, uint64_t count, size_t bytes)
{
	return array == NULL ? NULL : memcpy(malloc(count * bytes + 1), array, count * bytes);
}

static void
copy_planes(call *c, const gs_plane_rows *planes, unsigned nplanes, uint64_t nsegments)
{
	c->nplanes = nplanes;
	for (unsigned i = 0; i < nplanes; i++)
	{
		c->planes[i].words = copy_array(planes[i].words, nsegments, sizeof(void *));
		c->planes[i].nulls = copy_array(planes[i].nulls, nsegments, sizeof(void *));
	}
}

static void
copy_section(call *c, const gs_section *section)
{
	c->section = *section;
	for (unsigned i = 0; i < section->npieces; i++)
	{
		c->fields[i] = *section->pieces[i].field;
		c->section.pieces[i].field = &c->fields[i];
	}
}

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
	c->flag = true;
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

static void
run_upload(call *c)
{
	REAL(c, upload, c->to, c->from, c->bytes);
}

static gs_status
upload(gs_device *device, gs_queue queue, void *to, const void *from, size_t bytes)
{
	call	   *c = lazy_add_call(device, queue, run_upload);

	c->to = to;
	c->from = from;
	c->bytes = bytes;
	return GS_OK;
}

static void
run_download(call *c)
{
	REAL(c, download, c->to, c->from, c->bytes);
}

static gs_status
download(gs_device *device, gs_queue queue, void *to, const void *from, size_t bytes)
{
	call	   *c = lazy_add_call(device, queue, run_download);

	c->to = to;
	c->from = from;
	c->bytes = bytes;
	return GS_OK;
}

static void
run_copy(call *c)
{
	REAL(c, copy, c->to, c->from_device, c->from, c->bytes);
}

static gs_status
copy_memory(gs_device *device, gs_queue queue, void *to, gs_device *from_device, const void *from,
			size_t bytes)
{
	call	   *c = lazy_add_call(device, queue, run_copy);

	c->to = to;
	c->from = from;
	c->from_device = lazy_of(from_device)->real;
	c->bytes = bytes;
	return GS_OK;
}

static void
run_clear(call *c)
{
	REAL(c, clear, c->to, c->bytes);
}

static gs_status
clear_memory(gs_device *device, gs_queue queue, void *memory, size_t bytes)
{
	call	   *c = lazy_add_call(device, queue, run_clear);

	c->to = memory;
	c->bytes = bytes;
	return GS_OK;
}

static void
run_stats(call *c)
{
	REAL(c, plane_stats, c->rows, c->planes[0], c->to, c->alphabets);
}

static gs_status
plane_stats(gs_device *device, gs_queue queue, gs_rows rows, gs_plane_rows plane,
			gs_plane_stats *stats, gs_alphabets *alphabets)
{
	call	   *c = lazy_add_call(device, queue, run_stats);

	c->rows = rows;
	copy_planes(c, &plane, 1, gs_rows_segments(rows));
	c->to = stats;
	c->alphabets = alphabets;
	return GS_OK;
}

static void
run_pack(call *c)
{
	REAL(c, pack, c->rows, &c->section, c->planes, c->packed);
}

static gs_status
pack(gs_device *device, gs_queue queue, gs_rows rows, const gs_section *section,
	 const gs_plane_rows *planes, uint64_t *const *packed)
{
	call	   *c = lazy_add_call(device, queue, run_pack);

	c->rows = rows;
	copy_section(c, section);
	copy_planes(c, planes, section->npieces, gs_rows_segments(rows));
	c->packed = copy_array(packed, gs_rows_segments(rows), sizeof(void *));
	return GS_OK;
}

static size_t
tile_counts_bytes(gs_device *device, gs_rows rows)
{
	return lazy_of(device)->real->ops->tile_counts_bytes(lazy_of(device)->real, rows);
}

static void
run_histogram(call *c)
{
	REAL(c, histogram, c->rows, c->keys, c->ncounted, c->counted, c->to, c->tile_counts);
}

static gs_status
histogram(gs_device *device, gs_queue queue, gs_rows rows, gs_keys keys, unsigned ncounted,
		  const gs_counted *counted, uint64_t (*counts)[GS_DEVICE_DIGITS], void *tile_counts)
{
	call	   *c = lazy_add_call(device, queue, run_histogram);

	c->rows = rows;
	c->keys = keys;
	c->keys.words = copy_array(keys.words, gs_rows_segments(rows), sizeof(void *));
	c->ncounted = ncounted;
	memcpy(c->counted, counted, ncounted * sizeof(*counted));
	c->to = counts;
	c->tile_counts = tile_counts;
	return GS_OK;
}

static void
run_scatter(call *c)
{
	REAL(c, scatter, &c->scatter);
}

static gs_status
scatter(gs_device *device, gs_queue queue, const gs_scatter *args)
{
	call	   *c = lazy_add_call(device, queue, run_scatter);

	c->scatter = *args;
	c->scatter.keys.words = copy_array(args->keys.words, gs_rows_segments(args->rows),
									   sizeof(void *));
	c->scatter.tree = copy_array(args->tree, 1, sizeof(*args->tree));
	memcpy(c->targets, args->targets, args->ntargets * sizeof(*args->targets));
	c->scatter.targets = c->targets;
	return GS_OK;
}

static size_t
scatter_temp_bytes(gs_device *device, gs_rows rows)
{
	return lazy_of(device)->real->ops->scatter_temp_bytes(lazy_of(device)->real, rows);
}

/* The result lies where it was said to. */
static void
run_sort(call *c)
{
	bool		in_spare;

	REAL(c, sort, c->pairs, c->spare, c->id_bytes, c->nrows, c->low_bit, c->bits, c->temp, &in_spare);
	if (in_spare != c->flag)
	{
		gs_pairs	to = c->flag ? c->spare : c->pairs;
		gs_pairs	from = c->flag ? c->pairs : c->spare;

		memcpy(to.keys, from.keys, c->nrows * sizeof(uint64_t));
		memcpy(to.ids, from.ids, c->nrows * c->id_bytes);
	}
	memset(c->flag ? c->pairs.keys : c->spare.keys, 0x5a, c->nrows * sizeof(uint64_t));
	memset(c->flag ? c->pairs.ids : c->spare.ids, 0x5a, c->nrows * c->id_bytes);
}

static gs_status
sort(gs_device *device, gs_queue queue, gs_pairs pairs, gs_pairs spare, unsigned id_bytes,
	 uint64_t nrows, unsigned low_bit, unsigned bits, void *temp, bool *in_spare)
{
	call	   *c = lazy_add_call(device, queue, run_sort);

	c->pairs = pairs;
	c->spare = spare;
	c->id_bytes = id_bytes;
	c->nrows = nrows;
	c->low_bit = low_bit;
	c->bits = bits;
	c->temp = temp;
	c->flag = *in_spare = random_word(&lazy_of(device)->group->seed) & 1;
	return GS_OK;
}

static size_t
sort_temp_bytes(gs_device *device, unsigned id_bytes, uint64_t nrows)
{
	return lazy_of(device)->real->ops->sort_temp_bytes(lazy_of(device)->real, id_bytes, nrows);
}

static void
run_sort_runs(call *c)
{
	REAL(c, sort_runs, c->pairs, c->id_bytes, c->nrows, c->low_bit, c->temp, c->to);
}

static gs_status
sort_runs(gs_device *device, gs_queue queue, gs_pairs pairs, unsigned id_bytes, uint64_t nrows,
		  unsigned low_bit, void *temp, uint32_t *unsorted)
{
	call	   *c = lazy_add_call(device, queue, run_sort_runs);

	c->pairs = pairs;
	c->id_bytes = id_bytes;
	c->nrows = nrows;
	c->low_bit = low_bit;
	c->temp = temp;
	c->to = unsorted;
	return GS_OK;
}

static void
run_mark_equal(call *c)
{
	REAL(c, mark_equal, c->from, c->positions, c->nrows, c->flag, c->bits, c->to);
}

static gs_status
mark_equal(gs_device *device, gs_queue queue, const uint64_t *keys, const uint32_t *positions,
		   uint64_t nrows, bool tied, unsigned first_bit, uint32_t *bitmap)
{
	call	   *c = lazy_add_call(device, queue, run_mark_equal);

	c->from = keys;
	c->positions = positions;
	c->nrows = nrows;
	c->flag = tied;
	c->bits = first_bit;
	c->to = bitmap;
	return GS_OK;
}

static void
run_find_ties(call *c)
{
	REAL(c, find_ties, c->from, c->nrows, c->ranks, c->temp, c->counts);
}

static gs_status
find_ties(gs_device *device, gs_queue queue, const uint64_t *keys, uint64_t nrows,
		  uint64_t *ranks, void *temp, gs_tie_counts *counts)
{
	call	   *c = lazy_add_call(device, queue, run_find_ties);
	gs_event_ref event;
	gs_status	status;

	c->from = keys;
	c->nrows = nrows;
	c->ranks = ranks;
	c->temp = temp;
	c->counts = counts;
	record(device, queue, &event);
	status = sync_event(device, event);
	release_event(device, event);
	return status;
}

static size_t
ties_temp_bytes(gs_device *device, uint64_t nrows)
{
	return lazy_of(device)->real->ops->ties_temp_bytes(lazy_of(device)->real, nrows);
}

static void
run_take_ties(call *c)
{
	REAL(c, take_ties, c->pairs, c->positions, c->ranks, c->nrows, c->id_bytes, &c->section,
		 c->planes, c->first, c->to_positions, c->spare);
}

static gs_status
take_ties(gs_device *device, gs_queue queue, gs_pairs from, const uint32_t *positions,
		  const uint64_t *ranks, uint64_t nrows, unsigned id_bytes, const gs_section *section,
		  const gs_plane_rows *planes, uint64_t job_segments, uint32_t *to_positions, gs_pairs to)
{
	call	   *c = lazy_add_call(device, queue, run_take_ties);

	c->pairs = from;
	c->positions = positions;
	c->ranks = (uint64_t *) ranks;
	c->nrows = nrows;
	c->id_bytes = id_bytes;
	copy_section(c, section);
	copy_planes(c, planes, section->npieces, job_segments);
	c->first = job_segments;
	c->to_positions = to_positions;
	c->spare = to;
	return GS_OK;
}

static void
run_put_ids(call *c)
{
	REAL(c, put_ids, c->to, c->positions, c->from, c->id_bytes, c->nrows);
}

static gs_status
put_ids(gs_device *device, gs_queue queue, void *ids, const uint32_t *positions,
		const void *from_ids, unsigned id_bytes, uint64_t nrows)
{
	call	   *c = lazy_add_call(device, queue, run_put_ids);

	c->to = ids;
	c->positions = positions;
	c->from = from_ids;
	c->id_bytes = id_bytes;
	c->nrows = nrows;
	return GS_OK;
}

static void
run_count_up(call *c)
{
	REAL(c, count_up, c->to, c->id_bytes, c->first, c->nrows);
}

static gs_status
count_up(gs_device *device, gs_queue queue, void *ids, unsigned id_bytes, uint64_t first,
		 uint64_t nrows)
{
	call	   *c = lazy_add_call(device, queue, run_count_up);

	c->to = ids;
	c->id_bytes = id_bytes;
	c->first = first;
	c->nrows = nrows;
	return GS_OK;
}

/* Arguments of an operation on stored rows, whose slabs are listed in host memory. */
static void
copy_gather(call *c, const gs_gather *gather)
{
	c->gather = *gather;
	c->gather.from.slabs = copy_array(gather->from.slabs,
									  (gather->from.bytes + GS_SLAB_BYTES - 1) >> GS_SLAB_SHIFT,
									  sizeof(void *));
}

static void
run_sum_rows(call *c)
{
	REAL(c, sum_rows, c->rows, c->keys, c->to);
}

static gs_status
sum_rows(gs_device *device, gs_queue queue, gs_rows rows, gs_keys keys, gs_row_sums *sums)
{
	call	   *c = lazy_add_call(device, queue, run_sum_rows);

	c->rows = rows;
	c->keys = keys;
	c->keys.words = copy_array(keys.words, gs_rows_segments(rows), sizeof(void *));
	c->to = sums;
	return GS_OK;
}

static void
run_check_rows(call *c)
{
	REAL(c, check_rows, &c->checked, c->to);
}

static gs_status
check_rows(gs_device *device, gs_queue queue, const gs_checked_rows *rows, gs_order_check *check)
{
	call	   *c = lazy_add_call(device, queue, run_check_rows);

	c->checked = *rows;
	c->to = check;
	return GS_OK;
}

static void
run_place_rows(call *c)
{
	REAL(c, place_rows, &c->gather, c->units);
}

static gs_status
place_rows(gs_device *device, gs_queue queue, const gs_gather *gather, uint64_t *units)
{
	call	   *c = lazy_add_call(device, queue, run_place_rows);
	gs_event_ref event;
	gs_status	status;

	copy_gather(c, gather);
	c->units = units;
	record(device, queue, &event);
	status = sync_event(device, event);
	release_event(device, event);
	return status;
}

static size_t
place_temp_bytes(gs_device *device, uint64_t nrows)
{
	return lazy_of(device)->real->ops->place_temp_bytes(lazy_of(device)->real, nrows);
}

static void
run_gather_rows(call *c)
{
	REAL(c, gather_rows, &c->gather);
}

static gs_status
gather_rows(gs_device *device, gs_queue queue, const gs_gather *gather)
{
	copy_gather(lazy_add_call(device, queue, run_gather_rows), gather);
	return GS_OK;
}

static void
run_find_fields(call *c)
{
	REAL(c, find_fields, &c->text);
}

static gs_status
find_fields(gs_device *device, gs_queue queue, const gs_text *text)
{
	lazy_add_call(device, queue, run_find_fields)->text = *text;
	return GS_OK;
}

static size_t
find_fields_temp_bytes(gs_device *device, uint32_t bytes)
{
	return lazy_of(device)->real->ops->find_fields_temp_bytes(lazy_of(device)->real, bytes);
}

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
	.upload = upload,
	.download = download,
	.copy = copy_memory,
	.clear = clear_memory,
	.plane_stats = plane_stats,
	.pack = pack,
	.histogram = histogram,
	.tile_counts_bytes = tile_counts_bytes,
	.scatter = scatter,
	.scatter_temp_bytes = scatter_temp_bytes,
	.sort = sort,
	.sort_temp_bytes = sort_temp_bytes,
	.sort_runs = sort_runs,
	.mark_equal = mark_equal,
	.find_ties = find_ties,
	.ties_temp_bytes = ties_temp_bytes,
	.take_ties = take_ties,
	.put_ids = put_ids,
	.count_up = count_up,
	.sum_rows = sum_rows,
	.check_rows = check_rows,
	.place_rows = place_rows,
	.place_temp_bytes = place_temp_bytes,
	.gather_rows = gather_rows,
	.find_fields = find_fields,
	.find_fields_temp_bytes = find_fields_temp_bytes,
	.keep_trace = keep_trace,
	.span_begin = span_begin,
	.span_end = span_end,
	.read_trace = read_trace,
};
