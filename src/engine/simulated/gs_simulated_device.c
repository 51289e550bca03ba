/*
 * gs_simulated_device.c
 *		A sorting device in plain C, with memory of its own and in the caller's thread.
 *
 * Any number of simulated devices simulate as many GPUs, so that everything above the table of
 * operations runs without a GPU.  Operations are done when they return, so queues and events have
 * nothing to do.
 *
 * To test what happens when a device fails, the operation of a given number can be made to fail,
 * once, or rows to come out damaged.  What would cross the link is counted.  Under the address
 * sanitizer, memory of the arena that is not handed out is poisoned, and blocks have some distance.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/device/gs_arena.h"
#include "engine/simulated/gs_simulated_device.h"
#include "engine/simulated/gs_simulated_private.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#define DISTANCE_BYTES	GS_ARENA_ALIGNMENT
#else
#define ASAN_POISON_MEMORY_REGION(address, bytes)	((void) (address), (void) (bytes))
#define ASAN_UNPOISON_MEMORY_REGION(address, bytes) ((void) (address), (void) (bytes))
#define DISTANCE_BYTES	0
#endif

/* Most spans of a trace; further ones are not recorded. */
#define MAX_SPANS	1024

/* A copy of at least so many bytes is taken for one of rows: of keys or of ids. */
#define COPIED_ROWS_BYTES	64

/* Events are in a list, so that reset() finds them. */
struct gs_event
{
	gs_event_ref previous;
	gs_event_ref next;
};

/* When spans of work ran: operations are done when they return, so the host's clock is read. */
typedef struct simulated_trace
{
	gs_span_time *spans;		/* array of MAX_SPANS; NULL: no trace is kept */
	unsigned	nspans;
	int			open[GS_QUEUES];	/* the span that has begun on each queue, or -1 */
} simulated_trace;

typedef struct simulated_device
{
	gs_device	device;			/* must be the first field */
	gs_device  *parent;			/* of a lane, the device whose memory it has; NULL: it is no lane */
	void	   *memory;
	size_t		memory_bytes;
	gs_arena   *arena;
	gs_event_ref events;
	uint64_t	operations;		/* how many operations were called */
	uint64_t	fail_at;
	bool		keeps_failing;
	gs_damage	damage;			/* damage to be done to rows, see gs_simulated_device_spoil() */
	uint64_t	spoil_at;
	uint64_t	spoil_every;
	uint64_t	moves;			/* how many operations have moved rows */
	uint64_t	spoilt;
	gs_simulated_traffic traffic;
	simulated_trace trace;
} simulated_device;

static simulated_device *
simulated_of(gs_device *device)
{
	return (simulated_device *) device;
}

/* ---------- traces ---------- */

static double
clock_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double) t.tv_sec * 1e3 + (double) t.tv_nsec * 1e-6;
}

static void
forget_trace(gs_device *device)
{
	simulated_trace *trace = &simulated_of(device)->trace;

	trace->nspans = 0;
	for (unsigned i = 0; i < GS_QUEUES; i++)
		trace->open[i] = -1;
}

static void
keep_trace(gs_device *device, bool keep)
{
	simulated_trace *trace = &simulated_of(device)->trace;

	if (keep && trace->spans == NULL)
		trace->spans = malloc(MAX_SPANS * sizeof(*trace->spans));
	else if (!keep)
	{
		free(trace->spans);
		trace->spans = NULL;
	}
	forget_trace(device);
}

static void
span_begin(gs_device *device, gs_queue queue, const char *name)
{
	simulated_trace *trace = &simulated_of(device)->trace;
	double		now;

	trace->open[queue] = -1;
	if (trace->spans == NULL || trace->nspans == MAX_SPANS)
		return;
	now = clock_ms();
	trace->spans[trace->nspans] = (gs_span_time) {name, queue, now, now};
	trace->open[queue] = (int) trace->nspans++;
}

static void
span_end(gs_device *device, gs_queue queue)
{
	simulated_trace *trace = &simulated_of(device)->trace;

	if (trace->spans == NULL || trace->open[queue] < 0)
		return;
	trace->spans[trace->open[queue]].end_ms = clock_ms();
	trace->open[queue] = -1;
}

static unsigned
read_trace(gs_device *device, gs_span_time *spans, unsigned max)
{
	const simulated_trace *trace = &simulated_of(device)->trace;
	unsigned	count = trace->nspans < max ? trace->nspans : max;

	for (unsigned i = 0; i < count; i++)
		spans[i] = trace->spans[i];
	return count;
}

/* ---------- operations ---------- */

/* Counts an operation; returns its status. */
static gs_status
begin_operation(gs_device *device, const char *what)
{
	simulated_device *simulated = simulated_of(device);

	simulated->operations++;
	if (simulated->fail_at == 0 || simulated->operations < simulated->fail_at ||
		(simulated->operations > simulated->fail_at && !simulated->keeps_failing))
		return GS_OK;
	snprintf(device->error, sizeof(device->error), "injected failure of operation %llu (%s)",
			 (unsigned long long) simulated->operations, what);
	return GS_DEVICE_ERROR;
}

/* Damages rows that an operation has written, if it is time for that. */
static void
moved_rows(gs_device *device, gs_pairs pairs, unsigned id_bytes, uint64_t nrows)
{
	simulated_device *simulated = simulated_of(device);

	if (simulated->damage == GS_DAMAGE_NONE || ++simulated->moves < simulated->spoil_at)
		return;
	if (!gs_simulated_spoil(simulated->damage, pairs, id_bytes, nrows,
							(simulated->moves + nrows) * 2654435761u))
		return;
	simulated->spoilt++;
	simulated->spoil_at = simulated->spoil_every == 0 ? UINT64_MAX
		: simulated->moves + simulated->spoil_every;
}

/* Returns from an operation that is not to succeed. */
#define BEGIN(device, what) \
	do { \
		gs_status	begin_status = begin_operation(device, what); \
		if (begin_status != GS_OK) \
			return begin_status; \
	} while (0)

static gs_status
reset(gs_device *device)
{
	simulated_device *simulated = simulated_of(device);

	while (simulated->events != NULL)
	{
		gs_event_ref event = simulated->events;

		simulated->events = event->next;
		free(event);
	}
	forget_trace(device);
	BEGIN(device, "reset");
	return GS_OK;
}

static void
close_device(gs_device *device)
{
	simulated_device *simulated = simulated_of(device);

	gs_arena_close(simulated->arena);
	keep_trace(device, false);
	if (simulated->memory != NULL)
		ASAN_UNPOISON_MEMORY_REGION(simulated->memory, simulated->memory_bytes);
	if (simulated->parent != NULL)
		simulated->parent->ops->free(simulated->parent, simulated->memory);
	else
		free(simulated->memory);
	free(simulated);
}

static void
device_info(gs_device *device, gs_device_info *info)
{
	simulated_device *simulated = simulated_of(device);

	*info = (gs_device_info) {
		.name = "simulated",
		.memory_bytes = simulated->memory_bytes,
		.arena_bytes = simulated->memory_bytes,
		.number = device->index,
		.peers = UINT32_MAX,
	};
}

static gs_device *open_lane(gs_device *device, size_t bytes);

static bool
can_reach(gs_device *device, gs_device *peer)
{
	return device->ops == peer->ops;
}

static gs_status
host_register(gs_device *device, void *base, size_t bytes)
{
	BEGIN(device, "host_register");
	return GS_OK;
}

static void
host_unregister(gs_device *device, void *base)
{
}

static void *
alloc_memory(gs_device *device, size_t bytes)
{
	void	   *memory = gs_arena_alloc(simulated_of(device)->arena, bytes + DISTANCE_BYTES);

	if (memory != NULL)
		ASAN_UNPOISON_MEMORY_REGION(memory, bytes);
	return memory;
}

static void
free_memory(gs_device *device, void *memory)
{
	simulated_device *simulated = simulated_of(device);
	size_t		bytes = gs_arena_block_bytes(simulated->arena, memory);

	ASAN_POISON_MEMORY_REGION(memory, bytes);
	gs_arena_free(simulated->arena, memory);
}

static size_t
largest_free(gs_device *device)
{
	size_t		bytes = gs_arena_largest_free(simulated_of(device)->arena);

	return bytes > DISTANCE_BYTES ? bytes - DISTANCE_BYTES : 0;
}

static gs_status
record(gs_device *device, gs_queue queue, gs_event_ref *event)
{
	simulated_device *simulated = simulated_of(device);

	BEGIN(device, "record");
	*event = malloc(sizeof(**event));
	if (*event == NULL)
		return GS_NO_SPACE;
	**event = (struct gs_event) {NULL, simulated->events};
	if (simulated->events != NULL)
		simulated->events->previous = *event;
	simulated->events = *event;
	return GS_OK;
}

static gs_status
wait_event(gs_device *device, gs_queue queue, gs_event_ref event)
{
	BEGIN(device, "wait");
	return GS_OK;
}

static gs_status
sync_event(gs_device *device, gs_event_ref event)
{
	BEGIN(device, "sync");
	return GS_OK;
}

static bool
event_done(gs_device *device, gs_event_ref event)
{
	return true;
}

static void
release_event(gs_device *device, gs_event_ref event)
{
	simulated_device *simulated = simulated_of(device);

	if (event->previous != NULL)
		event->previous->next = event->next;
	else
		simulated->events = event->next;
	if (event->next != NULL)
		event->next->previous = event->previous;
	free(event);
}

/* Returns whether memory is not the device's. */
static bool
is_foreign(const gs_device *device, const void *memory)
{
	const simulated_device *simulated = (const simulated_device *) device;

	return (size_t) ((const char *) memory - (const char *) simulated->memory) >=
		simulated->memory_bytes;
}

/* Counts words of rows that an operation reads where they are. */
static void
read_words(gs_device *device, gs_rows rows, const uint64_t *const *words)
{
	uint64_t	full = rows.nrows >> GS_SEGMENT_SHIFT;

	for (uint64_t s = 0; words != NULL && s < gs_rows_segments(rows); s++)
		if (is_foreign(device, words[s]))
			simulated_of(device)->traffic.up += sizeof(uint64_t) *
				(s < full ? GS_SEGMENT_ROWS : rows.nrows & (GS_SEGMENT_ROWS - 1));
}

/* Counts rows that were scattered from these positions on, if their targets are elsewhere. */
static void
stored_rows(gs_device *device, const gs_scatter *args, const uint64_t *positions)
{
	for (unsigned t = 0; t < args->ntargets; t++)
		for (unsigned bin = 0; bin < args->tree->nbins; bin++)
		{
			const gs_target *target = &args->targets[t];
			uint64_t	begin = positions[bin] > target->begin ? positions[bin] : target->begin;
			uint64_t	end = target->begin + target->nrows;

			if (args->positions[bin] < end)
				end = args->positions[bin];
			if (begin < end && is_foreign(device, target->pairs.keys))
				simulated_of(device)->traffic.down += (end - begin) *
					(sizeof(uint64_t) + args->id_bytes);
		}
}

static gs_status
upload(gs_device *device, gs_queue queue, void *to, const void *from, size_t bytes)
{
	BEGIN(device, "upload");
	simulated_of(device)->traffic.up += bytes;
	memcpy(to, from, bytes);
	return GS_OK;
}

static gs_status
download(gs_device *device, gs_queue queue, void *to, const void *from, size_t bytes)
{
	BEGIN(device, "download");
	simulated_of(device)->traffic.down += bytes;
	memcpy(to, from, bytes);
	return GS_OK;
}

static gs_status
copy(gs_device *device, gs_queue queue, void *to, gs_device *from_device, const void *from,
	 size_t bytes)
{
	BEGIN(device, "copy");
	memcpy(to, from, bytes);
	if (bytes >= COPIED_ROWS_BYTES && simulated_of(device)->damage == GS_DAMAGE_KEY_BIT)
		moved_rows(device, (gs_pairs) {to, NULL}, 0, bytes / sizeof(uint64_t));
	return GS_OK;
}

static gs_status
clear(gs_device *device, gs_queue queue, void *memory, size_t bytes)
{
	BEGIN(device, "clear");
	memset(memory, 0, bytes);
	return GS_OK;
}

static gs_status
plane_stats(gs_device *device, gs_queue queue, gs_rows rows, gs_plane_rows plane,
			gs_plane_stats *stats, gs_alphabets *alphabets)
{
	BEGIN(device, "plane_stats");
	read_words(device, rows, plane.words);
	gs_simulated_stats(rows, plane, stats, alphabets);
	return GS_OK;
}

static gs_status
pack(gs_device *device, gs_queue queue, gs_rows rows, const gs_section *section,
	 const gs_plane_rows *planes, uint64_t *const *packed)
{
	BEGIN(device, "pack");
	for (unsigned i = 0; i < section->npieces; i++)
		read_words(device, rows, planes[i].words);
	gs_simulated_pack(rows, section, planes, packed);
	return GS_OK;
}

/* There are no tiles: tile_counts gets how many rows were counted, for scatter() to check. */
static gs_status
histogram(gs_device *device, gs_queue queue, gs_rows rows, gs_keys keys, unsigned ncounted,
		  const gs_counted *counted, uint64_t (*counts)[GS_DEVICE_DIGITS], void *tile_counts)
{
	BEGIN(device, "histogram");
	read_words(device, rows, keys.words);
	gs_simulated_histogram(rows, keys, ncounted, counted, counts);
	if (tile_counts != NULL)
		*(uint64_t *) tile_counts = rows.nrows;
	return GS_OK;
}

/*
 * May damage rows of the first bin that has got some; positions[] says where each bin's rows began.
 */
static void
scattered_rows(gs_device *device, const gs_scatter *args, const uint64_t *positions)
{
	for (unsigned bin = 0; bin < args->tree->nbins; bin++)
		for (unsigned t = 0; t < args->ntargets; t++)
		{
			const gs_target *target = &args->targets[t];
			uint64_t	row = positions[bin] - target->begin;

			if (row >= target->nrows || args->positions[bin] - target->begin > target->nrows ||
				args->positions[bin] - positions[bin] < 2)
				continue;
			moved_rows(device, (gs_pairs) {target->pairs.keys + row,
			(char *) target->pairs.ids + row * args->id_bytes}, args->id_bytes,
					   args->positions[bin] - positions[bin]);
			return;
		}
}

static gs_status
scatter(gs_device *device, gs_queue queue, const gs_scatter *args)
{
	uint64_t	positions[GS_MAX_BINS];

	BEGIN(device, "scatter");
	if (args->tile_counts != NULL && *(const uint64_t *) args->tile_counts != args->rows.nrows)
	{
		snprintf(device->error, sizeof(device->error), "tile counts belong to other rows");
		return GS_INVALID;
	}
	memcpy(positions, args->positions, sizeof(positions));
	read_words(device, args->rows, args->keys.words);
	gs_simulated_scatter(args);
	stored_rows(device, args, positions);
	scattered_rows(device, args, positions);
	return GS_OK;
}

static gs_status
sort(gs_device *device, gs_queue queue, gs_pairs pairs, gs_pairs spare, unsigned id_bytes,
	 uint64_t nrows, unsigned low_bit, unsigned bits, void *temp, bool *in_spare)
{
	BEGIN(device, "sort");
	*(uint64_t *) temp = nrows;
	*in_spare = gs_simulated_sort(pairs, spare, id_bytes, nrows, low_bit, bits);
	moved_rows(device, *in_spare ? spare : pairs, id_bytes, nrows);
	return GS_OK;
}

static gs_status
sort_runs(gs_device *device, gs_queue queue, gs_pairs pairs, unsigned id_bytes, uint64_t nrows,
		  unsigned low_bit, void *temp, uint32_t *unsorted)
{
	BEGIN(device, "sort_runs");
	if (!gs_simulated_sort_runs(pairs, id_bytes, nrows, low_bit))
		*unsorted = 1;
	moved_rows(device, pairs, id_bytes, nrows);
	return GS_OK;
}

static gs_status
mark_equal(gs_device *device, gs_queue queue, const uint64_t *keys, const uint32_t *positions,
		   uint64_t nrows, bool tied, unsigned first_bit, uint32_t *bitmap)
{
	BEGIN(device, "mark_equal");
	gs_simulated_mark_equal(keys, positions, nrows, tied, first_bit, bitmap);
	return GS_OK;
}

static gs_status
find_ties(gs_device *device, gs_queue queue, const uint64_t *keys, uint64_t nrows,
		  uint64_t *ranks, void *temp, gs_tie_counts *counts)
{
	BEGIN(device, "find_ties");
	*(uint64_t *) temp = nrows;
	*counts = gs_simulated_find_ties(keys, nrows, ranks);
	return GS_OK;
}

static gs_status
take_ties(gs_device *device, gs_queue queue, gs_pairs from, const uint32_t *positions,
		  const uint64_t *ranks, uint64_t nrows, unsigned id_bytes, const gs_section *section,
		  const gs_plane_rows *planes, uint64_t job_segments, uint32_t *to_positions, gs_pairs to)
{
	BEGIN(device, "take_ties");
	gs_simulated_take_ties(from, positions, ranks, nrows, id_bytes, section, planes, to_positions,
						   to);
	return GS_OK;
}

static gs_status
put_ids(gs_device *device, gs_queue queue, void *ids, const uint32_t *positions,
		const void *from_ids, unsigned id_bytes, uint64_t nrows)
{
	BEGIN(device, "put_ids");
	gs_simulated_put_ids(ids, positions, from_ids, id_bytes, nrows);
	moved_rows(device, (gs_pairs) {NULL, (char *) ids + (size_t) positions[0] * id_bytes}, id_bytes,
			   positions[nrows - 1] - positions[0] + 1);
	return GS_OK;
}

static gs_status
count_up(gs_device *device, gs_queue queue, void *ids, unsigned id_bytes, uint64_t first,
		 uint64_t nrows)
{
	BEGIN(device, "count_up");
	gs_simulated_count_up(ids, id_bytes, first, nrows);
	moved_rows(device, (gs_pairs) {NULL, ids}, id_bytes, nrows);
	return GS_OK;
}

static gs_status
sum_rows(gs_device *device, gs_queue queue, gs_rows rows, gs_keys keys, gs_row_sums *sums)
{
	BEGIN(device, "sum_rows");
	read_words(device, rows, keys.words);
	gs_simulated_sum_rows(rows, keys, sums);
	return GS_OK;
}

static gs_status
check_rows(gs_device *device, gs_queue queue, const gs_checked_rows *rows, gs_order_check *check)
{
	BEGIN(device, "check_rows");
	gs_simulated_check_rows(rows, check);
	return GS_OK;
}

static gs_status
place_rows(gs_device *device, gs_queue queue, const gs_gather *gather, uint64_t *units)
{
	BEGIN(device, "place_rows");
	*(uint64_t *) gather->temp = gather->nrows;
	*units = gs_simulated_place_rows(gather);
	return GS_OK;
}

static gs_status
gather_rows(gs_device *device, gs_queue queue, const gs_gather *gather)
{
	BEGIN(device, "gather_rows");
	gs_simulated_gather_rows(gather);
	return GS_OK;
}

static gs_status
find_fields(gs_device *device, gs_queue queue, const gs_text *text)
{
	BEGIN(device, "find_fields");
	*(uint64_t *) text->temp = text->bytes;
	gs_simulated_find_fields(text);
	if (text->found->nfields <= text->max_fields)
		moved_rows(device, (gs_pairs) {NULL, text->field_ends}, sizeof(uint32_t),
				   text->found->nfields);
	return GS_OK;
}

/*
 * No memory is needed, but operations write to it, so that a caller that passes too little is found
 * out.
 */
#define GS_OPERATION(name, ...)
#define GS_TEMP_BYTES(name, ...) \
static size_t \
name(gs_device *device GS_MAP(GS_PARAMETER, __VA_ARGS__)) \
{ \
	return sizeof(uint64_t); \
}
#include "engine/device/gs_operation_list.h"

static const gs_device_ops simulated_ops = {
	.close = close_device,
	.info = device_info,
	.open_lane = open_lane,
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
	.sort = sort,
#define GS_OPERATION(name, ...)		.name = name,
#define GS_TEMP_BYTES(name, ...)	.name = name,
#include "engine/device/gs_operation_list.h"
	.keep_trace = keep_trace,
	.span_begin = span_begin,
	.span_end = span_end,
	.read_trace = read_trace,
};

/*
 * Makes a device on memory, or returns NULL, also if memory is NULL.  The memory is freed with the
 * device, or if there is none.
 */
static simulated_device *
open_device(unsigned index, gs_device *parent, void *memory, size_t bytes)
{
	simulated_device *simulated = calloc(1, sizeof(*simulated));

	if (simulated == NULL)
	{
		if (parent != NULL)
			parent->ops->free(parent, memory);
		else
			free(memory);
		return NULL;
	}
	simulated->device = (gs_device) {.ops = &simulated_ops, .index = index};
	simulated->parent = parent;
	simulated->memory = memory;
	simulated->memory_bytes = bytes;
	if (memory != NULL)
		simulated->arena = gs_arena_open(memory, bytes);
	if (simulated->arena == NULL)
	{
		close_device(&simulated->device);
		return NULL;
	}
	ASAN_POISON_MEMORY_REGION(memory, bytes);
	return simulated;
}

static size_t
aligned_bytes(size_t bytes)
{
	return (bytes + GS_ARENA_ALIGNMENT - 1) / GS_ARENA_ALIGNMENT * GS_ARENA_ALIGNMENT;
}

gs_device *
gs_simulated_device_open(unsigned index, size_t arena_bytes, uint64_t fail_at)
{
	size_t		bytes = aligned_bytes(arena_bytes);
	simulated_device *simulated = open_device(index, NULL, aligned_alloc(GS_ARENA_ALIGNMENT, bytes),
											  bytes);

	if (simulated == NULL)
		return NULL;
	simulated->fail_at = fail_at;
	return &simulated->device;
}

/* Opens a lane, which has its device's faults. */
static gs_device *
open_lane(gs_device *device, size_t bytes)
{
	const simulated_device *parent = simulated_of(device);
	void	   *memory = alloc_memory(device, aligned_bytes(bytes));
	simulated_device *lane;

	if (memory == NULL)
		return NULL;
	lane = open_device(device->index, device, memory, aligned_bytes(bytes));
	if (lane == NULL)
		return NULL;
	lane->fail_at = parent->fail_at;
	lane->keeps_failing = parent->keeps_failing;
	lane->damage = parent->damage;
	lane->spoil_at = parent->spoil_at;
	lane->spoil_every = parent->spoil_every;
	return &lane->device;
}

void
gs_simulated_device_keep_failing(gs_device *device)
{
	((simulated_device *) device)->keeps_failing = true;
}

void
gs_simulated_device_spoil(gs_device *device, gs_damage damage, uint64_t at, uint64_t every)
{
	simulated_device *simulated = simulated_of(device);

	simulated->damage = damage;
	simulated->spoil_at = at;
	simulated->spoil_every = every;
}

uint64_t
gs_simulated_device_spoilt(const gs_device *device)
{
	return ((const simulated_device *) device)->spoilt;
}

gs_simulated_traffic
gs_simulated_device_traffic(const gs_device *device)
{
	return ((const simulated_device *) device)->traffic;
}
