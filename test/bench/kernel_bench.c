/*
 * kernel_bench.c
 *		What each operation of one device costs on its own.
 *
 *		kernel_bench [--host] [--rows N] [--repeat N] [keys ...]
 *
 * Data lies in device memory; times are those of the device's own trace, medians
 * of the repetitions after one to warm up.  Bytes are what the operation has to
 * read and write once, in 10^9 a second; `sort` is CUB's DeviceRadixSort and is
 * given in 10^9 rows a second.  A device without a trace is timed on the host.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_host.h"
#include "engine/simulated/gs_simulated_device.h"
#include "gs_cuda.h"

#define MAX_REPEATS		99

static gs_device *device;
static uint64_t nrows = 100000000;
static unsigned repeats = 5;

/* Device memory of a run. */
static gs_rows rows;
static const uint64_t **segments;
static uint64_t *packed;
static gs_pairs pairs;
static gs_pairs spare;
static uint64_t (*counts)[GS_DEVICE_DIGITS];
static uint64_t *positions;
static void *temp;
static size_t temp_bytes;
static gs_plane_stats *stats;
static gs_alphabets *alphabets;
static gs_numbering numbering;
static gs_bin_tree tree;
static unsigned sort_bits;

static void
must(gs_status status, const char *what)
{
	if (status == GS_OK)
		return;
	fprintf(stderr, "%s: %s (%s)\n", what, gs_status_text(status), device->error);
	exit(1);
}

static void *
must_alloc(size_t bytes)
{
	void	   *memory = device->ops->alloc(device, bytes);

	if (memory == NULL)
	{
		fprintf(stderr, "no device memory for %zu bytes\n", bytes);
		exit(1);
	}
	return memory;
}

static void
finish(gs_queue queue)
{
	gs_event_ref event;

	must(device->ops->record(device, queue, &event), "record");
	must(device->ops->sync(device, event), "sync");
	device->ops->release(device, event);
}

static void
do_stats(void)
{
	gs_plane_rows plane = {.words = segments};

	must(device->ops->plane_stats(device, GS_QUEUE_WORK, rows, plane, stats, NULL), "plane_stats");
}

static void
do_alphabets(void)
{
	gs_plane_rows plane = {.words = segments};

	must(device->ops->plane_stats(device, GS_QUEUE_WORK, rows, plane, stats, alphabets),
		 "plane_stats");
}

static gs_keys
all_keys(void)
{
	return (gs_keys) {.words = segments, .width = 64};
}

static void
pack_section(const gs_section *section, const gs_plane_rows *planes)
{
	uint64_t  **to = malloc(gs_rows_segments(rows) * sizeof(*to));

	for (uint64_t i = 0; i < gs_rows_segments(rows); i++)
		to[i] = packed + i * GS_SEGMENT_ROWS;
	must(device->ops->pack(device, GS_QUEUE_WORK, rows, section, planes, to), "pack");
	free(to);
}

/* The low 20 bits, and the 44 above, as two pieces would be of two planes. */
static void
do_pack(void)
{
	static gs_field fields[2];
	static gs_section section;
	gs_plane_rows planes[2] = {{.words = segments}, {.words = segments}};

	fields[0] = (gs_field) {.width = 20};
	fields[1] = (gs_field) {.shift = 20, .width = 44};
	section.width = 64;
	section.npieces = 2;
	section.pieces[0] = (gs_piece) {&fields[0], 0, 20, (UINT64_C(1) << 20) - 1};
	section.pieces[1] = (gs_piece) {&fields[1], 0, 44, (UINT64_C(1) << 44) - 1};
	pack_section(&section, planes);
}

/* The numbers of words that are bytes of strings. */
static void
do_number(void)
{
	static gs_field field = {.numbering = &numbering, .width = 64};
	static gs_section section = {.width = 64, .npieces = 1, .pieces = {{&field, 0, 64, UINT64_MAX}}};
	gs_plane_rows plane = {.words = segments};

	pack_section(&section, &plane);
}

/* Number the words by the alphabets of some of them. */
static void
learn_numbering(const uint64_t *words)
{
	gs_plane	plane = {.words = words};
	gs_plane_stats some_stats = GS_PLANE_STATS_INIT;
	gs_alphabets some = {0};
	uint64_t	count = nrows < 1000000 ? nrows : 1000000;

	gs_plane_stats_fold(&some_stats, &plane, 0, count);
	gs_alphabets_fold(&some, &plane, 0, count);
	(void) gs_numbering_make(&numbering, &some_stats, &some);
}

static void
do_histogram(void)
{
	gs_counted	root = {.digit_shift = 56, .digit_bits = 8};

	must(device->ops->histogram(device, GS_QUEUE_WORK, rows, all_keys(), 1, &root, counts, NULL),
		 "histogram");
}

/* Below 7 of the digits: what a first refinement for 8 devices counts. */
static void
do_refinement(void)
{
	gs_counted	counted[7];

	for (unsigned i = 0; i < 7; i++)
		counted[i] = (gs_counted) {.prefix = (i + 1) * 32, .digit_shift = 48, .digit_bits = 8};
	must(device->ops->histogram(device, GS_QUEUE_WORK, rows, all_keys(), 7, counted, counts, NULL),
		 "histogram");
}

static void
reset_positions(void)
{
	uint64_t	digits[GS_DEVICE_DIGITS];
	uint64_t	sum = 0;

	must(device->ops->clear(device, GS_QUEUE_WORK, counts, sizeof(digits)), "clear");
	do_histogram();
	must(device->ops->download(device, GS_QUEUE_WORK, digits, counts, sizeof(digits)), "download");
	finish(GS_QUEUE_WORK);
	for (unsigned i = 0; i < GS_DEVICE_DIGITS; i++)
	{
		uint64_t	count = digits[i];

		digits[i] = sum;
		sum += count;
		tree.entries[0][i] = (uint16_t) i;
	}
	tree.nbins = GS_DEVICE_DIGITS;
	tree.nnodes = 1;
	tree.nodes[0].digit_shift = 56;
	tree.nodes[0].digit_bits = 8;
	must(device->ops->upload(device, GS_QUEUE_WORK, positions, digits, sizeof(digits)), "upload");
	finish(GS_QUEUE_WORK);
}

static void
do_scatter(void)
{
	gs_target	target = {.nrows = nrows, .pairs = pairs};
	gs_scatter	scatter = {
		.rows = rows,
		.keys = all_keys(),
		.id_bytes = 4,
		.tree = &tree,
		.positions = positions,
		.ntargets = 1,
		.targets = &target,
		.temp = temp,
	};

	must(device->ops->scatter(device, GS_QUEUE_WORK, &scatter), "scatter");
}

static void
refill_pairs(void)
{
	must(device->ops->copy(device, GS_QUEUE_WORK, pairs.keys, device, segments[0],
						   nrows * sizeof(uint64_t)), "copy");
	must(device->ops->count_up(device, GS_QUEUE_WORK, pairs.ids, 4, 0, nrows), "count_up");
	finish(GS_QUEUE_WORK);
}

static void
do_sort(void)
{
	bool		in_spare;

	must(device->ops->sort(device, GS_QUEUE_WORK, pairs, spare, 4, nrows, 0, sort_bits, temp,
						   &in_spare), "sort");
}

static void
do_copy(void)
{
	must(device->ops->copy(device, GS_QUEUE_WORK, packed, device, segments[0],
						   nrows * sizeof(uint64_t)), "copy");
}

static void
nothing(void)
{
}

/* Milliseconds of an operation, the median. */
static double
measure(void (*prepare) (void), void (*operation) (void))
{
	double		ms[MAX_REPEATS];

	for (unsigned i = 0; i <= repeats; i++)
	{
		gs_span_time span;
		double		begin;
		double		took;

		prepare();
		must(device->ops->reset(device), "reset");
		begin = bench_now_ms();
		device->ops->span_begin(device, GS_QUEUE_WORK, "operation");
		operation();
		device->ops->span_end(device, GS_QUEUE_WORK);
		finish(GS_QUEUE_WORK);
		took = bench_now_ms() - begin;
		if (device->ops->read_trace(device, &span, 1) == 1)
			took = span.end_ms - span.begin_ms;
		if (i > 0)
			ms[i - 1] = took;
	}
	return bench_median(ms, repeats);
}

static void
report(const char *keys, const char *operation, double bytes_a_row, double ms)
{
	printf("| %s | %s | %.3f | ", keys, operation, ms);
	if (bytes_a_row > 0)
		printf("%.0f GB/s |\n", bytes_a_row * (double) nrows / ms / 1e6);
	else
		printf("%.2f G rows/s |\n", (double) nrows / ms / 1e6);
	fflush(stdout);
}

static void
run_keys(bench_keys keys, uint64_t *words)
{
	static const unsigned bit_counts[] = {64, 56, 48, 40, 32};
	const char *name = bench_keys_name(keys);
	char		sort_name[32];

	bench_fill(words, nrows, keys, 1);
	must(device->ops->upload(device, GS_QUEUE_WORK, (void *) segments[0], words,
							 nrows * sizeof(uint64_t)), "upload");
	finish(GS_QUEUE_WORK);
	report(name, "copy", 16, measure(nothing, do_copy));
	report(name, "plane_stats", 8, measure(nothing, do_stats));
	report(name, "plane_stats, bytes", 8, measure(nothing, do_alphabets));
	report(name, "pack", 24, measure(nothing, do_pack));
	learn_numbering(words);
	report(name, "pack, numbers", 16, measure(nothing, do_number));
	report(name, "histogram", 8, measure(nothing, do_histogram));
	report(name, "histogram below 7", 8, measure(nothing, do_refinement));
	report(name, "scatter", 20, measure(reset_positions, do_scatter));
	for (unsigned i = 0; i < sizeof(bit_counts) / sizeof(bit_counts[0]); i++)
	{
		sort_bits = bit_counts[i];
		snprintf(sort_name, sizeof(sort_name), "sort by %u bits", sort_bits);
		report(name, sort_name, 0, measure(refill_pairs, do_sort));
	}
}

static void
allocate_all(void)
{
	uint64_t	padded = gs_rows_segments(rows) << GS_SEGMENT_SHIFT;
	uint64_t   *words = must_alloc(padded * sizeof(uint64_t));

	segments = malloc(gs_rows_segments(rows) * sizeof(*segments));
	for (uint64_t i = 0; i < gs_rows_segments(rows); i++)
		segments[i] = words + i * GS_SEGMENT_ROWS;
	packed = must_alloc(padded * sizeof(uint64_t));
	pairs = (gs_pairs) {must_alloc(nrows * sizeof(uint64_t)), must_alloc(nrows * 4)};
	spare = (gs_pairs) {must_alloc(nrows * sizeof(uint64_t)), must_alloc(nrows * 4)};
	counts = must_alloc(GS_MAX_COUNTED * sizeof(*counts));
	positions = must_alloc(GS_MAX_BINS * sizeof(*positions));
	stats = must_alloc(sizeof(*stats));
	alphabets = must_alloc(sizeof(*alphabets));
	temp_bytes = device->ops->sort_temp_bytes(device, 4, nrows);
	if (temp_bytes < device->ops->scatter_temp_bytes(device, rows))
		temp_bytes = device->ops->scatter_temp_bytes(device, rows);
	temp = must_alloc(temp_bytes);
}

int
main(int argc, char **argv)
{
	static const bench_keys usual[] = {BENCH_UNIFORM64, BENCH_ZIPF1, BENCH_AND4, BENCH_SORTED, BENCH_ZERO};
	bool		host = false;
	int			arg = 1;
	char		error[256] = "no memory";
	gs_device_info info;
	uint64_t   *words;

	for (; arg < argc && argv[arg][0] == '-'; arg++)
	{
		if (strcmp(argv[arg], "--host") == 0)
			host = true;
		else if (strcmp(argv[arg], "--rows") == 0 && arg + 1 < argc)
			nrows = (uint64_t) strtod(argv[++arg], NULL);
		else if (strcmp(argv[arg], "--repeat") == 0 && arg + 1 < argc)
			repeats = (unsigned) atoi(argv[++arg]);
	}
	if (repeats < 1 || repeats > MAX_REPEATS || nrows < 1)
		return 2;
	device = host ? gs_simulated_device_open(0, nrows * 56 + (64 << 20), 0) :
		gs_cuda_device_open(0, 0, 0, 0, error, sizeof(error));
	if (device == NULL)
	{
		fprintf(stderr, "cannot open the device: %s\n", error);
		return 1;
	}
	device->ops->keep_trace(device, true);
	rows = (gs_rows) {.nrows = nrows};
	words = bench_allocate(nrows * sizeof(uint64_t));
	must(device->ops->host_register(device, words, nrows * sizeof(uint64_t)), "host_register");
	allocate_all();
	device->ops->info(device, &info);
	printf("%llu rows on %s, medians of %u\n\n| keys | operation | ms | |\n| --- | --- | ---: | ---: |\n",
		   (unsigned long long) nrows, info.name, repeats);
	if (arg == argc)
		for (unsigned i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
			run_keys(usual[i], words);
	for (; arg < argc; arg++)
		if (bench_keys_find(argv[arg]) < BENCH_KEYS)
			run_keys(bench_keys_find(argv[arg]), words);
	device->ops->host_unregister(device, words);
	device->ops->close(device);
	return 0;
}
