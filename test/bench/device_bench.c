/*
 * device_bench.c
 *		Sorting on a group of devices, host memory to host memory.
 *
 *		device_bench [--host] [--rows N,...] [--devices N,...] [--keys NAME,...]
 *					 [--exchange auto|store|copy,...] [--repeat N] [--feed] [--equal]
 *					 [--bucket-rows N] [--same-gpu] [--arena BYTES] [--park BYTES] [--out DIR]
 *
 * Every combination of rows, keys, devices and exchange is one case.  Keys are 64-bit
 * words of one plane, ids take 32 bits; both lie in host memory that was touched
 * and registered beforehand.  A case is run once to warm up and have its result
 * checked row by row, then --repeat times; the table gives medians:
 *
 *	total		from the first call until the last id is in place
 *	link		bytes over the speed that the links gave to as many devices at
 *				the start: 8 bytes a row up, then 4 down
 *	work		the busiest device: everything but statistics and transfers
 *	plain sort	DeviceRadixSort of the packed bits of all rows on one device; of strings
 *				(hex, names) that are not numbered
 *
 * With --feed all full segments are handed over ahead of the clock, as when rows
 * arrive slowly.  --same-gpu opens the first GPU as often as there are devices.
 * --park allows lean guesses, with so much host memory for rows that devices have no room for.
 * Behind each case that took several rounds or parked rows there is a line that says so; with --host
 * and one device also how many bytes a row would have crossed the link, each way.
 * --out takes the table as markdown and CSV, and a trace of each case's last run.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_host.h"
#include "device_bench.h"
#include "engine/simulated/gs_simulated_device.h"

#define MAX_LIST		16
#define MAX_REPEATS		99

static const char *const exchange_names[] = {
	[GS_EXCHANGE_AUTO] = "auto",
	[GS_EXCHANGE_STORE] = "store",
	[GS_EXCHANGE_COPY] = "copy",
};

typedef struct list
{
	unsigned	count;
	uint64_t	values[MAX_LIST];
} list;

typedef struct options
{
	bool		host;
	bool		feed;
	bool		equal;
	bool		same_gpu;
	size_t		arena_bytes;
	size_t		park_bytes;
	uint64_t	bucket_rows;	/* 0: the engine's default */
	unsigned	repeats;
	list		rows;
	list		devices;
	list		keys;
	list		exchanges;
	const char *out;
} options;

static options opt = {
	.repeats = 5,
	.rows = {1, {10000000}},
	.devices = {1, {1}},
	.keys = {1, {BENCH_UNIFORM64}},
	.exchanges = {1, {GS_EXCHANGE_AUTO}},
};

/* What a case is about, and what was measured. */
typedef struct bench_case
{
	uint64_t	nrows;
	bench_keys	keys;
	unsigned	ndevices;
	gs_exchange exchange;
	gs_device_result result;
	double		total_ms;
	double		least_ms;
	double		most_ms;
	double		link_ms;
	double		plain_ms;
	bench_phases phases;		/* of the last run */
	gs_simulated_traffic traffic;	/* likewise, of a simulated device */
} bench_case;

static gs_group all_devices;
static bench_link_speeds speeds;
static bench_spans spans[GS_MAX_DEVICES];
static double begin_ms, end_ms;	/* of the last run */
static uint64_t *words;
static uint32_t *ids;
static uint64_t *equal;
static void *park;
static FILE *table;
static FILE *csv;

static void
usage(void)
{
	fprintf(stderr, "see the head of device_bench.c\n");
	exit(2);
}

/* One word of a list of numbers or names. */
static uint64_t
parse_value(int option, const char *word)
{
	if (option == 'k' && bench_keys_find(word) < BENCH_KEYS)
		return bench_keys_find(word);
	if (option == 'x')
		for (unsigned i = 0; i < 3; i++)
			if (strcmp(exchange_names[i], word) == 0)
				return i;
	if (option == 'k' || option == 'x' || strtod(word, NULL) < 1)
		usage();
	return (uint64_t) strtod(word, NULL);
}

static list
parse_list(int option, char *text)
{
	list		l = {.count = 0};

	for (char *word = strtok(text, ","); word != NULL; word = strtok(NULL, ","))
	{
		if (l.count == MAX_LIST)
			usage();
		l.values[l.count++] = parse_value(option, word);
	}
	return l;
}

static void
parse_options(int argc, char **argv)
{
	static const struct option names[] = {
		{"host", no_argument, NULL, 'h'},
		{"feed", no_argument, NULL, 'f'},
		{"equal", no_argument, NULL, 'e'},
		{"same-gpu", no_argument, NULL, 's'},
		{"arena", required_argument, NULL, 'a'},
		{"park", required_argument, NULL, 'p'},
		{"bucket-rows", required_argument, NULL, 'b'},
		{"rows", required_argument, NULL, 'r'},
		{"devices", required_argument, NULL, 'd'},
		{"keys", required_argument, NULL, 'k'},
		{"exchange", required_argument, NULL, 'x'},
		{"repeat", required_argument, NULL, 'n'},
		{"out", required_argument, NULL, 'o'},
		{NULL, 0, NULL, 0}
	};
	int			c;

	while ((c = getopt_long(argc, argv, "", names, NULL)) != -1)
		switch (c)
		{
			case 'h':
				opt.host = true;
				break;
			case 'f':
				opt.feed = true;
				break;
			case 'e':
				opt.equal = true;
				break;
			case 's':
				opt.same_gpu = true;
				break;
			case 'a':
				opt.arena_bytes = (size_t) strtod(optarg, NULL);
				break;
			case 'p':
				opt.park_bytes = (size_t) strtod(optarg, NULL);
				break;
			case 'b':
				opt.bucket_rows = (uint64_t) strtod(optarg, NULL);
				break;
			case 'n':
				opt.repeats = (unsigned) atoi(optarg);
				break;
			case 'o':
				opt.out = optarg;
				break;
			case 'r':
				opt.rows = parse_list(c, optarg);
				break;
			case 'd':
				opt.devices = parse_list(c, optarg);
				break;
			case 'k':
				opt.keys = parse_list(c, optarg);
				break;
			case 'x':
				opt.exchanges = parse_list(c, optarg);
				break;
			default:
				usage();
		}
	if (opt.repeats < 1 || opt.repeats > MAX_REPEATS)
		usage();
}

static uint64_t
greatest(const list *l)
{
	uint64_t	most = 0;

	for (unsigned i = 0; i < l->count; i++)
		most = l->values[i] > most ? l->values[i] : most;
	return most;
}

static void
open_devices(uint64_t most_rows)
{
	uint64_t	ndevices = greatest(&opt.devices);

	if (ndevices > GS_MAX_DEVICES)
		usage();
	bench_group_open(&all_devices, &(bench_group_options) {
		.host = opt.host,
		.same_gpu = opt.same_gpu,
		.ndevices = (unsigned) ndevices,
		.arena_bytes = opt.arena_bytes,
		.host_arena_bytes = most_rows * 64 + ((size_t) 256 << 20),
	});
}

/* One sort; its milliseconds. */
static double
sort_once(gs_group *group, uint64_t nrows, bool bytes, gs_device_result *result)
{
	void	   *word_part = words;
	void	   *id_part = ids;
	void	   *equal_part = equal;
	gs_span_plane plane = {.words = {&word_part, 63}, .bytes = bytes};
	gs_device_args args = {
		.nrows = nrows,
		.nplanes = 1,
		.planes = &plane,
		.id_bytes = 4,
		.ids = {&id_part, 63},
		.equal = {opt.equal ? &equal_part : NULL, 63},
		.park = park,
		.park_bytes = opt.park_bytes,
	};
	gs_device_job *job;

	bench_group_reset(group);
	begin_ms = bench_now_ms();
	job = bench_job_begin(group, nrows);
	if (opt.feed)
	{
		for (uint64_t segment = 0; segment < nrows >> GS_SEGMENT_SHIFT; segment++)
			gs_device_feed(job, 0, segment, words + (segment << GS_SEGMENT_SHIFT));
		for (unsigned d = 0; d < group->ndevices; d++)
			bench_finish(group->devices[d], GS_QUEUE_WORK);
		begin_ms = bench_now_ms();
	}
	bench_job_run(job, &args, result);
	end_ms = bench_now_ms();
	bench_job_end(job, group, spans);
	return end_ms - begin_ms;
}

/* The time that the links alone need: all words up, then all ids down. */
static double
link_ms(const bench_case *c)
{
	unsigned	n = c->result.devices;
	double		up = opt.feed ? 0 : 8.0 * (double) c->nrows / speeds.all_up[n];

	if (speeds.all_up[n] <= 0 || speeds.all_down[n] <= 0)
		return 0;
	return (up + 4.0 * (double) c->nrows / speeds.all_down[n]) / 1e6;
}

static void
write_case_trace(const bench_case *c)
{
	char		path[1024];

	if (opt.out == NULL || spans[0].count == 0)
		return;
	snprintf(path, sizeof(path), "%s/trace-%llu-%s-%u-%s.json", opt.out,
			 (unsigned long long) c->nrows, bench_keys_name(c->keys), c->ndevices,
			 exchange_names[c->exchange]);
	bench_write_trace(path, spans, c->ndevices);
}

static void
report_phases(const bench_case *c, FILE *to)
{
	for (unsigned i = 0; i < c->phases.nphases; i++)
		fprintf(to, "%s%s %.2f", i == 0 ? "" : ", ", c->phases.phases[i].name,
				c->phases.phases[i].ms);
}

/* What little memory has led to. */
static void
report_memory(const bench_case *c, FILE *to)
{
	if (c->result.rounds > 1 || c->result.parked_rows > 0)
		fprintf(to, "# %u rounds, keys %s, %.1f %% parked\n", c->result.rounds,
				c->result.resident ? "resident" : "in host memory",
				100.0 * (double) c->result.parked_rows / (double) c->nrows);
	if (opt.host && c->ndevices == 1)
		fprintf(to, "# bytes a row over the link: %.2f up, %.2f down\n",
				(double) c->traffic.up / (double) c->nrows,
				(double) c->traffic.down / (double) c->nrows);
}

static void
report(const bench_case *c)
{
	FILE	   *outputs[2] = {stdout, table};

	for (unsigned i = 0; i < 2; i++)
	{
		if (outputs[i] == NULL)
			continue;
		fprintf(outputs[i], "| %llu | %s | %u | %s | %u | %u | %u | %.1f %% | %.2f | %.2f-%.2f | %.2f "
				"| %.2f | %.2f | %.2f | ",
				(unsigned long long) c->nrows, bench_keys_name(c->keys), c->result.devices,
				exchange_names[c->exchange], c->result.key_bits, c->result.histograms,
				c->result.buckets, 100.0 * (double) c->result.exchanged_rows / (double) c->nrows,
				c->total_ms, c->least_ms, c->most_ms, c->link_ms,
				c->link_ms > 0 ? c->total_ms / c->link_ms : 0, c->phases.work_ms, c->plain_ms);
		report_phases(c, outputs[i]);
		fprintf(outputs[i], " |\n");
		report_memory(c, outputs[i]);
		fflush(outputs[i]);
	}
	if (csv == NULL)
		return;
	fprintf(csv, "%llu,%s,%u,%s,%u,%u,%u,%u,%llu,%llu,%llu,%.3f,%.3f,%.3f,%.3f,%.3f,%.3f,\"",
			(unsigned long long) c->nrows, bench_keys_name(c->keys), c->result.devices,
			exchange_names[c->exchange], c->result.key_bits, c->result.rounds,
			c->result.histograms, c->result.buckets,
			(unsigned long long) c->result.exchanged_rows,
			(unsigned long long) c->result.largest_share_rows,
			(unsigned long long) c->result.parked_rows, c->total_ms, c->least_ms, c->most_ms,
			 c->link_ms, c->phases.work_ms, c->plain_ms);
	report_phases(c, csv);
	fprintf(csv, "\"\n");
	fflush(csv);
}

static void
run_case(bench_case *c)
{
	gs_group	group = all_devices;
	bool		bytes = bench_keys_are_bytes(c->keys);
	double		ms[MAX_REPEATS];

	group.ndevices = c->ndevices;
	group.options.exchange = c->exchange;
	group.options.bucket_rows = opt.bucket_rows;
	group.options.lean = park != NULL;
	memset(ids, 0xff, c->nrows * sizeof(*ids));
	sort_once(&group, c->nrows, bytes, &c->result);
	if (!bench_verify(words, ids, c->nrows))
		exit(1);
	for (unsigned i = 0; i < opt.repeats; i++)
	{
		gs_simulated_traffic before = {0, 0};

		if (opt.host)
			before = gs_simulated_device_traffic(group.devices[0]);
		ms[i] = sort_once(&group, c->nrows, bytes, &c->result);
		if (opt.host)
			c->traffic = gs_simulated_device_traffic(group.devices[0]);
		c->traffic.up -= before.up;
		c->traffic.down -= before.down;
	}
	c->total_ms = bench_median(ms, opt.repeats);
	c->least_ms = ms[0];
	c->most_ms = ms[opt.repeats - 1];
	c->link_ms = link_ms(c);
	c->phases = bench_sum_phases(spans, group.ndevices);
	bench_add_ends(&c->phases, spans, group.ndevices, begin_ms, end_ms);
	write_case_trace(c);
	report(c);
}

static FILE *
open_output(const char *name)
{
	char		path[1024];
	FILE	   *file;

	snprintf(path, sizeof(path), "%s/%s", opt.out, name);
	file = fopen(path, "w");
	if (file == NULL)
	{
		perror(path);
		exit(1);
	}
	return file;
}

static void
print_head(FILE *to)
{
	gs_device_info info;

	for (unsigned d = 0; d < all_devices.ndevices; d++)
	{
		all_devices.devices[d]->ops->info(all_devices.devices[d], &info);
		fprintf(to, "device %u: %s %u, arena %.1f GB, reaches %x, link %.1f up, %.1f down; "
				"first %u devices together %.1f up, %.1f GB/s down\n", d, info.name, info.number,
				(double) info.arena_bytes / 1e9, info.peers, speeds.up[d], speeds.down[d], d + 1,
				speeds.all_up[d + 1], speeds.all_down[d + 1]);
	}
	fprintf(to, "\nms, medians of %u runs%s\n\n| rows | keys | devices | exchange | bits | passes "
			"| buckets | moved | total | range | link | total / link | work | plain sort "
			"| phases |\n| ---: | --- | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: "
			"| ---: | ---: | ---: | ---: | --- |\n", opt.repeats,
			opt.feed ? ", words uploaded ahead" : "");
	fflush(to);
}

static void
run_keys(uint64_t nrows, bench_keys keys)
{
	double		plain_ms;

	bench_fill(words, nrows, keys, 1);
	plain_ms = bench_plain_sort(all_devices.devices[0], words, nrows, opt.repeats);
	for (unsigned d = 0; d < opt.devices.count; d++)
		for (unsigned x = 0; x < opt.exchanges.count; x++)
		{
			bench_case	c = {
				.nrows = nrows,
				.keys = keys,
				.ndevices = (unsigned) opt.devices.values[d],
				.exchange = (gs_exchange) opt.exchanges.values[x],
				.plain_ms = plain_ms,
			};

			if (c.ndevices > 1 || x == 0)
				run_case(&c);
		}
}

int
main(int argc, char **argv)
{
	uint64_t	most_rows;

	parse_options(argc, argv);
	most_rows = greatest(&opt.rows);
	if (most_rows > UINT32_MAX)
		usage();
	open_devices(most_rows);
	words = bench_group_allocate(&all_devices, most_rows * sizeof(*words));
	ids = bench_group_allocate(&all_devices, most_rows * sizeof(*ids));
	if (opt.equal)
		equal = bench_group_allocate(&all_devices, (most_rows / 64 + 1) * sizeof(*equal));
	if (opt.park_bytes > 0)
		park = bench_group_allocate(&all_devices, opt.park_bytes);
	speeds = bench_links(all_devices.devices, all_devices.ndevices, words,
						 most_rows * sizeof(*words));
	print_head(stdout);
	if (opt.out != NULL)
	{
		table = open_output("devices.md");
		csv = open_output("devices.csv");
		print_head(table);
		fprintf(csv, "rows,keys,devices,exchange,bits,rounds,passes,buckets,moved_rows,"
				"largest_share_rows,parked_rows,total_ms,least_ms,most_ms,link_ms,work_ms,plain_sort_ms,"
				"phases\n");
	}
	for (unsigned r = 0; r < opt.rows.count; r++)
		for (unsigned k = 0; k < opt.keys.count; k++)
			run_keys(opt.rows.values[r], (bench_keys) opt.keys.values[k]);
	bench_group_close(&all_devices);
	return 0;
}
