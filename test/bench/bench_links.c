/*
 * bench_links.c
 *		What the sort is measured against: the links, and a plain sort on one device.
 *
 * Links are loaded as the sort loads them, by transfers of a few megabytes one
 * behind the other on a queue of each device; the host's clock runs from the
 * first call until all queues are empty.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_host.h"
#include "device_bench.h"

#define TRANSFER_BYTES	((size_t) 16 << 20)
#define DEVICE_BYTES	((size_t) 512 << 20)
#define ROUNDS			3

void
bench_must(gs_device *device, gs_status status, const char *what)
{
	if (status == GS_OK)
		return;
	fprintf(stderr, "%s: %s (%s)\n", what, gs_status_text(status), device->error);
	exit(1);
}

void
bench_finish(gs_device *device, gs_queue queue)
{
	gs_event_ref event;

	bench_must(device, device->ops->record(device, queue, &event), "record");
	bench_must(device, device->ops->sync(device, event), "sync");
	device->ops->release(device, event);
}

/* 10^9 bytes a second of all devices together. */
static double
measure_links(gs_device **devices, unsigned ndevices, void **memory, char *host, size_t bytes,
			  bool up)
{
	gs_queue	queue = up ? GS_QUEUE_UP : GS_QUEUE_DOWN;
	double		ms[ROUNDS];

	for (unsigned round = 0; round < ROUNDS; round++)
	{
		double		begin = bench_now_ms();

		for (size_t at = 0; at + TRANSFER_BYTES <= bytes; at += TRANSFER_BYTES)
			for (unsigned d = 0; d < ndevices; d++)
			{
				char	   *device_memory = (char *) memory[d] + at;
				char	   *host_memory = host + d * bytes + at;
				gs_device  *device = devices[d];

				if (up)
					bench_must(device, device->ops->upload(device, queue, device_memory,
														   host_memory, TRANSFER_BYTES), "upload");
				else
					bench_must(device, device->ops->download(device, queue, host_memory,
															 device_memory, TRANSFER_BYTES),
							   "download");
			}
		for (unsigned d = 0; d < ndevices; d++)
			bench_finish(devices[d], queue);
		ms[round] = bench_now_ms() - begin;
	}
	return (double) (bytes / TRANSFER_BYTES * TRANSFER_BYTES * ndevices) /
		bench_median(ms, ROUNDS) / 1e6;
}

bench_link_speeds
bench_links(gs_device **devices, unsigned ndevices, void *host, size_t bytes)
{
	bench_link_speeds speeds;
	void	   *memory[GS_MAX_DEVICES];

	memset(&speeds, 0, sizeof(speeds));
	bytes /= ndevices;
	if (bytes > DEVICE_BYTES)
		bytes = DEVICE_BYTES;
	if (bytes < TRANSFER_BYTES)
		return speeds;
	for (unsigned d = 0; d < ndevices; d++)
		memory[d] = devices[d]->ops->alloc(devices[d], bytes);
	for (unsigned d = 0; d < ndevices && memory[d] != NULL; d++)
	{
		speeds.up[d] = measure_links(devices + d, 1, memory + d, host, bytes, true);
		speeds.down[d] = measure_links(devices + d, 1, memory + d, host, bytes, false);
		speeds.all_up[d + 1] = measure_links(devices, d + 1, memory, host, bytes, true);
		speeds.all_down[d + 1] = measure_links(devices, d + 1, memory, host, bytes, false);
	}
	for (unsigned d = 0; d < ndevices; d++)
		devices[d]->ops->free(devices[d], memory[d]);
	return speeds;
}

/* Device memory of a plain sort. */
typedef struct plain_sort
{
	gs_device  *device;
	uint64_t	nrows;
	uint64_t   *words;
	gs_pairs	pairs;
	gs_pairs	spare;
	void	   *temp;
	gs_plane_stats *stats;
} plain_sort;

static const uint64_t **
segment_pointers(uint64_t *words, uint64_t nrows)
{
	uint64_t	count = (nrows + GS_SEGMENT_ROWS - 1) >> GS_SEGMENT_SHIFT;
	const uint64_t **pointers = malloc(count * sizeof(*pointers));

	for (uint64_t i = 0; i < count; i++)
		pointers[i] = words + (i << GS_SEGMENT_SHIFT);
	return pointers;
}

static gs_plane_stats
read_stats(plain_sort *p)
{
	const gs_device_ops *ops = p->device->ops;
	const uint64_t **words = segment_pointers(p->words, p->nrows);
	gs_plane_rows plane = {.words = words};
	gs_rows		rows = {.nrows = p->nrows};
	gs_plane_stats stats = GS_PLANE_STATS_INIT;

	bench_must(p->device, ops->upload(p->device, GS_QUEUE_WORK, p->stats, &stats, sizeof(stats)),
			   "upload");
	bench_must(p->device, ops->plane_stats(p->device, GS_QUEUE_WORK, rows, plane, p->stats, NULL),
			   "plane_stats");
	bench_must(p->device, ops->download(p->device, GS_QUEUE_WORK, &stats, p->stats, sizeof(stats)),
			   "download");
	bench_finish(p->device, GS_QUEUE_WORK);
	free(words);
	return stats;
}

/* Keys packed and ids counted up, as before a sort. */
static void
fill_pairs(plain_sort *p, const gs_section *section)
{
	const gs_device_ops *ops = p->device->ops;
	const uint64_t **words = segment_pointers(p->words, p->nrows);
	const uint64_t **packed = segment_pointers(p->pairs.keys, p->nrows);
	gs_plane_rows plane = {.words = words};
	gs_rows		rows = {.nrows = p->nrows};

	bench_must(p->device, ops->pack(p->device, GS_QUEUE_WORK, rows, section, &plane,
									(uint64_t *const *) packed), "pack");
	bench_must(p->device, ops->count_up(p->device, GS_QUEUE_WORK, p->pairs.ids, 4, 0, p->nrows),
			   "count_up");
	bench_finish(p->device, GS_QUEUE_WORK);
	free(words);
	free(packed);
}

static double
sort_once(plain_sort *p, unsigned bits)
{
	const gs_device_ops *ops = p->device->ops;
	gs_span_time span;
	double		begin;
	bool		in_spare;

	bench_must(p->device, ops->reset(p->device), "reset");
	begin = bench_now_ms();
	ops->span_begin(p->device, GS_QUEUE_WORK, "sort");
	bench_must(p->device, ops->sort(p->device, GS_QUEUE_WORK, p->pairs, p->spare, 4, p->nrows,
									0, bits, p->temp, &in_spare), "sort");
	ops->span_end(p->device, GS_QUEUE_WORK);
	bench_finish(p->device, GS_QUEUE_WORK);
	if (ops->read_trace(p->device, &span, 1) == 1)
		return span.end_ms - span.begin_ms;
	return bench_now_ms() - begin;
}

static double
sort_packed(plain_sort *p, unsigned repeats)
{
	gs_plane_stats stats = read_stats(p);
	gs_plane	plane = {.null_order = GS_NULLS_NONE};
	gs_layout	layout;
	gs_section	section;
	gs_cursor	cursor;
	double		ms[99];

	gs_layout_clear(&layout);
	gs_layout_add_plane(&layout, 0, &plane, &stats, p->nrows);
	if (layout.key_bits == 0)
		return 0;
	cursor = gs_layout_start(&layout);
	gs_section_build(&section, &layout, &cursor, (unsigned) layout.key_bits);
	for (unsigned i = 0; i <= repeats; i++)
	{
		fill_pairs(p, &section);
		ms[i == 0 ? 0 : i - 1] = sort_once(p, section.width);
	}
	return bench_median(ms, repeats);
}

double
bench_plain_sort(gs_device *device, const uint64_t *words, uint64_t nrows, unsigned repeats)
{
	const gs_device_ops *ops = device->ops;
	size_t		key_bytes = nrows * sizeof(uint64_t);
	plain_sort	p = {
		.device = device,
		.nrows = nrows,
		.words = ops->alloc(device, key_bytes),
		.pairs = {ops->alloc(device, key_bytes), ops->alloc(device, nrows * 4)},
		.spare = {ops->alloc(device, key_bytes), ops->alloc(device, nrows * 4)},
		.temp = ops->alloc(device, ops->sort_temp_bytes(device, 4, nrows) + 1),
		.stats = ops->alloc(device, sizeof(gs_plane_stats)),
	};
	double		ms = 0;

	if (p.words != NULL && p.pairs.keys != NULL && p.pairs.ids != NULL && p.spare.keys != NULL &&
		p.spare.ids != NULL && p.temp != NULL && p.stats != NULL)
	{
		bench_must(device, ops->upload(device, GS_QUEUE_WORK, p.words, words, key_bytes), "upload");
		ms = sort_packed(&p, repeats);
	}
	ops->free(device, p.words);
	ops->free(device, p.pairs.keys);
	ops->free(device, p.pairs.ids);
	ops->free(device, p.spare.keys);
	ops->free(device, p.spare.ids);
	ops->free(device, p.temp);
	ops->free(device, p.stats);
	return ms;
}
