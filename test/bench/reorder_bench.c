/*
 * reorder_bench.c
 *		Stored rows in another order: who should bring them there, at which width?
 *
 *		reorder_bench [--host] [--bytes N] [--repeat N] [--varied] [width ...]
 *
 * For each width of rows, milliseconds for a table of N bytes, medians of the
 * repetitions after one to warm up:
 *
 *	pointers	one thread reads rows where they lie, in random order, each prefetched
 *				a block of 32 ahead, as the executor's node does: the first word of
 *				each (a parent that only passes rows on), or all of them
 *	in order	the same of rows that lie in that order
 *	thread		one thread copies them into it
 *	upload		rows to the device, which happens while they are being collected
 *	device		rows back in order, ids up included
 *
 * A device is worth it where "in order" and the memory for the rows are cheaper than
 * "pointers", since the reader waits for its first window only; a thread, where there
 * is a core to spare and "thread" ends well before "pointers".  With --varied rows have
 * lengths of their own, of which the width is the mean.  What the device returns is
 * compared with the rows.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_host.h"
#include "engine/simulated/gs_simulated_device.h"
#include "gs_cuda.h"
#include "engine/device/gs_device_sort.h"

#define MAX_REPEATS		99
#define BLOCK			32
#define PART_SHIFT		21		/* an extent of the pool */

/* Row i of n lies at refs[i] * 8, or at i * stride. */
typedef struct table
{
	uint64_t	nrows;
	uint64_t	stride;			/* 0: rows have lengths of their own */
	uint64_t	bytes;
	char	   *rows;
	uint32_t   *refs;
} table;

typedef struct bench
{
	gs_group	group;
	unsigned	repeats;
	table		from;
	table		to;
	uint32_t   *ids;
	void	  **parts[5];
} bench;

enum
{
	POINTERS_HEAD, POINTERS_ALL, ORDER_HEAD, ORDER_ALL, THREAD, UPLOAD, DEVICE, COLUMNS
};

static volatile uint64_t sink;

static uint64_t
random_word(uint64_t *seed)
{
	uint64_t	word = *seed += UINT64_C(0x9e3779b97f4a7c15);

	word = (word ^ word >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	word = (word ^ word >> 27) * UINT64_C(0x94d049bb133111eb);
	return word ^ word >> 31;
}

static inline uint64_t *
row_at(const table *t, uint64_t i)
{
	return (uint64_t *) (t->rows + (t->stride > 0 ? i * t->stride : (uint64_t) t->refs[i] * 8));
}

/* The first word is the length, as a tuple's is. */
static void
fill_table(bench *b, uint64_t bytes, uint64_t width, bool varied)
{
	table	   *t = &b->from;
	uint64_t	seed = width;
	uint64_t	end = 0;

	t->nrows = bytes / width;
	t->stride = varied ? 0 : width;
	for (uint64_t i = 0; i < t->nrows; i++)
	{
		uint64_t	length = varied ? 8 + random_word(&seed) % (width / 4 - 1) * 8 : width;

		t->refs[i] = (uint32_t) (end / 8);
		memset(t->rows + end, (int) i, length);
		*(uint64_t *) (t->rows + end) = length;
		end += length;
		b->ids[i] = (uint32_t) i;
	}
	t->bytes = end;
	for (uint64_t i = t->nrows - 1; i > 0; i--)
	{
		uint64_t	j = random_word(&seed) % (i + 1);
		uint32_t	id = b->ids[i];

		b->ids[i] = b->ids[j];
		b->ids[j] = id;
	}
	b->to.nrows = t->nrows;
	b->to.stride = t->stride;
}

/* ids NULL: one after the other. */
static void
read_rows(const table *t, const uint32_t *ids, bool all)
{
	uint64_t   *blocks[2][BLOCK];
	uint64_t	sum = 0;

	for (uint64_t i = 0; i < t->nrows + BLOCK; i += BLOCK)
	{
		uint64_t  **ahead = blocks[i / BLOCK % 2];
		uint64_t  **block = blocks[(i / BLOCK + 1) % 2];

		for (uint64_t j = i; j < i + BLOCK && j < t->nrows; j++)
			__builtin_prefetch(ahead[j - i] = row_at(t, ids != NULL ? ids[j] : j));
		for (uint64_t j = i - BLOCK; i > 0 && j < i && j < t->nrows; j++)
		{
			const uint64_t *row = block[j % BLOCK];
			uint64_t	words = all ? row[0] / 8 : 1;

			for (uint64_t w = 0; w < words; w++)
				sum += row[w];
		}
	}
	sink += sum;
}

static void
copy_rows(bench *b)
{
	uint64_t	end = 0;

	for (uint64_t i = 0; i < b->from.nrows; i++)
	{
		const uint64_t *row = row_at(&b->from, b->ids[i]);

		if (i + BLOCK < b->from.nrows)
			__builtin_prefetch(row_at(&b->from, b->ids[i + BLOCK]));
		memcpy(b->to.rows + end, row, row[0]);
		b->to.refs[i] = (uint32_t) (end / 8);
		end += row[0];
	}
}

static gs_span
span_of(bench *b, int n, void *memory, uint64_t bytes)
{
	for (uint64_t i = 0; i << PART_SHIFT < bytes; i++)
		b->parts[n][i] = (char *) memory + (i << PART_SHIFT);
	return (gs_span) {b->parts[n], PART_SHIFT};
}

static void
fail(const char *message)
{
	fprintf(stderr, "%s\n", message);
	exit(1);
}

static void
use_device(bench *b, double *upload_ms, double *ms)
{
	const table *t = &b->from;
	uint64_t	refs_bytes = t->nrows * sizeof(uint32_t);
	gs_reorder_args args = {
		.nrows = t->nrows,
		.ids = span_of(b, 0, b->ids, refs_bytes),
		.rows = span_of(b, 1, t->rows, t->bytes),
		.row_bytes = t->bytes,
		.stride = t->stride,
		.refs = span_of(b, 2, t->refs, refs_bytes),
		.unit = 8,
		.length = {0, UINT64_MAX},
		.to_rows = span_of(b, 3, b->to.rows, t->bytes),
		.to_bytes = t->bytes,
		.to_refs = span_of(b, 4, b->to.refs, refs_bytes),
	};
	gs_reorder *reorder = gs_reorder_begin(&b->group);
	gs_device  *device = b->group.devices[0];
	gs_event_ref event;
	const char *message = "";
	uint64_t	ready = 0;
	double		begin = bench_now_ms();

	if (!gs_reorder_feed(reorder, t->rows, t->bytes) ||
		device->ops->record(device, GS_QUEUE_UP, &event) != GS_OK ||
		device->ops->sync(device, event) != GS_OK)
		fail("no device memory for the rows");
	device->ops->release(device, event);
	*upload_ms = bench_now_ms() - begin;
	begin = bench_now_ms();
	if (gs_reorder_run(reorder, &args, &message) != GS_OK)
		fail(message);
	while (ready < t->nrows)
		if (gs_reorder_wait(reorder, &ready, &message) != GS_OK)
			fail(message);
	*ms = bench_now_ms() - begin;
	gs_reorder_end(reorder);
}

static void
check(const bench *b)
{
	for (uint64_t i = 0; i < b->from.nrows; i++)
	{
		const uint64_t *row = row_at(&b->from, b->ids[i]);

		if (memcmp(row_at(&b->to, i), row, row[0]) != 0)
			fail("rows are not in order");
	}
}

static double
time_reading(const table *t, const uint32_t *ids, bool all)
{
	double		begin = bench_now_ms();

	read_rows(t, ids, all);
	return bench_now_ms() - begin;
}

static void
run_width(bench *b, uint64_t bytes, uint64_t width, bool varied)
{
	double		ms[COLUMNS][MAX_REPEATS + 1];
	double		begin;

	fill_table(b, bytes, width, varied);
	for (unsigned i = 0; i <= b->repeats; i++)
	{
		ms[POINTERS_HEAD][i] = time_reading(&b->from, b->ids, false);
		ms[POINTERS_ALL][i] = time_reading(&b->from, b->ids, true);
		begin = bench_now_ms();
		copy_rows(b);
		ms[THREAD][i] = bench_now_ms() - begin;
		use_device(b, &ms[UPLOAD][i], &ms[DEVICE][i]);
		ms[ORDER_HEAD][i] = time_reading(&b->to, NULL, false);
		ms[ORDER_ALL][i] = time_reading(&b->to, NULL, true);
	}
	check(b);
	printf("| %llu | %.2f ", (unsigned long long) width, (double) b->from.nrows / 1e6);
	for (int column = 0; column < COLUMNS; column++)
		printf("| %.1f ", bench_median(ms[column] + 1, b->repeats));
	printf("|\n");
	fflush(stdout);
}

static void *
shared_memory(bench *b, uint64_t bytes)
{
	gs_device  *device = b->group.devices[0];
	void	   *memory = bench_allocate(bytes);

	if (device->ops->host_register(device, memory, bytes) != GS_OK)
		fail(device->error);
	return memory;
}

int
main(int argc, char **argv)
{
	static bench b = {.repeats = 5};
	static const uint64_t widths[] = {16, 24, 40, 64, 104, 200, 400, 1000, 2000};
	uint64_t	bytes = UINT64_C(2) << 30;
	bool		host = false;
	bool		varied = false;
	int			arg = 1;
	char		error[256] = "no memory";
	gs_device_info info;

	for (; arg < argc && argv[arg][0] == '-'; arg++)
	{
		if (strcmp(argv[arg], "--host") == 0)
			host = true;
		else if (strcmp(argv[arg], "--varied") == 0)
			varied = true;
		else if (strcmp(argv[arg], "--bytes") == 0 && arg + 1 < argc)
			bytes = (uint64_t) strtod(argv[++arg], NULL) / 4096 * 4096;
		else if (strcmp(argv[arg], "--repeat") == 0 && arg + 1 < argc)
			b.repeats = (unsigned) atoi(argv[++arg]);
	}
	if (b.repeats < 1 || b.repeats > MAX_REPEATS || bytes == 0)
		return 2;
	b.group.ndevices = 1;
	b.group.devices[0] = host ? gs_simulated_device_open(0, bytes * 4 + (256 << 20), 0) :
		gs_cuda_device_open(0, 0, 0, 0, error, sizeof(error));
	if (b.group.devices[0] == NULL)
		fail(error);
	b.ids = shared_memory(&b, bytes / 4);
	b.from = (table) {.rows = shared_memory(&b, 2 * bytes), .refs = shared_memory(&b, bytes / 4)};
	b.to = (table) {.rows = shared_memory(&b, 2 * bytes), .refs = shared_memory(&b, bytes / 4)};
	for (int i = 0; i < 5; i++)
		b.parts[i] = malloc(((2 * bytes >> PART_SHIFT) + 1) * sizeof(void *));
	b.group.devices[0]->ops->info(b.group.devices[0], &info);
	printf("%.1f GB of rows %s on %s, ms, medians of %u\n\n"
		   "| width | M rows | pointers: head | all | in order: head | all | thread | upload | device |\n"
		   "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
		   (double) bytes / 1e9, varied ? "of many lengths" : "of one length", info.name, b.repeats);
	for (size_t i = 0; arg == argc && i < sizeof(widths) / sizeof(widths[0]); i++)
		run_width(&b, bytes, widths[i], varied);
	for (; arg < argc; arg++)
	{
		uint64_t	width = (uint64_t) atoi(argv[arg]) / 8 * 8;

		if (width >= 16)
			run_width(&b, bytes, width, varied);
	}
	b.group.devices[0]->ops->close(b.group.devices[0]);
	return 0;
}
