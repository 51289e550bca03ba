/*
 * join_bench.c
 *		The device's part of a sort-merge join, host memory to host memory.
 *
 *		join_bench [--host] [--devices N] [--same-gpu] [--rows N,...] [--cases NAME,...]
 *				   [--repeat N] [--arena BYTES] [--out DIR]
 *
 * Two sides of so many pairs each, of an 8-byte key and what belongs to it, which stays in host
 * memory and is stood for by the row's number.  One job sorts both (engine/gs_merged.h): keys go up,
 * row numbers and the bitmap of equal neighbours come back.  Then all processors take pieces of
 * the merged order and find the ranges of rows with the same key on both sides, and the rows of
 * both, side by side.
 *
 * R has each key once, or --cases dup4 four times; a row of S has the key of some row of R:
 *
 *	uniform		any
 *	zipf1, zipf2	the rank of a Zipf distribution with that exponent
 *	half, tenth, hundredth	... so many of them; the others have none
 *	sorted		as uniform, but both sides are in order already
 *
 * All GPUs are used unless --devices says otherwise.  Each case is run once to have it checked and
 * then --repeat times; medians.  Checked are the numbers of ranges and matches against those counted
 * while keys were made, that equal rows have equal keys and come in order, and that each row comes
 * once.
 */
#include <getopt.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_host.h"
#include "device_bench.h"
#include "engine/gs_merged.h"
#include "gs_cuda.h"
#include "keys.h"

#define MAX_LIST		16
#define MAX_REPEATS		99
#define PIECE_ROWS		8192
#define CHUNK_ROWS		(UINT64_C(1) << 16)

/* Ranks below this are counted by each thread for itself: some are very frequent. */
#define FREQUENT_RANKS	1024

typedef struct join_case
{
	const char *name;
	double		zipf;			/* exponent; 0: uniform */
	double		selected;		/* of the rows of S */
	unsigned	copies;			/* of each key in R */
	bool		sorted;
} join_case;

static const join_case cases[] = {
	{"uniform", 0, 1, 1, false},
	{"zipf1", 1, 1, 1, false},
	{"zipf2", 2, 1, 1, false},
	{"half", 0, 0.5, 1, false},
	{"tenth", 0, 0.1, 1, false},
	{"hundredth", 0, 0.01, 1, false},
	{"dup4", 0, 1, 4, false},
	{"sorted", 0, 1, 1, true},
};

#define NCASES (sizeof(cases) / sizeof(cases[0]))

static struct
{
	bool		host;
	bool		same_gpu;
	unsigned	devices;		/* 0: all */
	unsigned	repeats;
	size_t		arena_bytes;
	const char *out;
	unsigned	nrows;
	uint64_t	rows[MAX_LIST];
	unsigned	ncases;
	unsigned	cases[MAX_LIST];
}			opt = {.repeats = 3};

/* What a run found, and how long it took. */
typedef struct found
{
	uint64_t	ranges;
	uint64_t	matches;
	double		device_ms;		/* from the first call until the last id is in place */
	double		ranges_ms;		/* of all processors */
	gs_device_result result;
} found;

static gs_group group;
static bench_link_speeds speeds;
static bench_spans spans[GS_MAX_DEVICES];
static uint64_t *keys[2];		/* by side */
static uint64_t *rest;			/* rows of both behind their whole segments */
static uint32_t *ids;
static uint64_t *equal;
static _Atomic uint32_t *partners;	/* rows of S by the number of their key */
static uint64_t side_rows;		/* of either */

/* ---------- keys ---------- */

/* Numbers from 0 on, spread over 64 bits, one to one. */
static uint64_t
spread(uint64_t number)
{
	number = (number ^ number >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	number = (number ^ number >> 27) * UINT64_C(0x94d049bb133111eb);
	return number ^ number >> 31;
}

static uint64_t
key_of(const join_case *c, uint64_t number)
{
	return c->sorted ? number << 4 : spread(number);
}

/* Keys that R has. */
static uint64_t
key_count(const join_case *c)
{
	return (side_rows + c->copies - 1) / c->copies;
}

static uint64_t
random_rank(const join_case *c, uint64_t *state)
{
	double		ranks = (double) key_count(c);
	double		unit = (double) (random_word(state) >> 11) * 0x1p-53;
	double		rank;

	if (c->zipf == 0)
		return random_word(state) % key_count(c);
	if (c->zipf == 1)
		rank = exp(unit * log(ranks));
	else
		rank = pow(unit * (pow(ranks, 1 - c->zipf) - 1) + 1, 1 / (1 - c->zipf));
	rank -= 1;
	return rank < ranks - 1 ? (uint64_t) rank : key_count(c) - 1;
}

/* The number of the key of a row of S. */
static uint64_t
number_of_s(const join_case *c, uint64_t row, uint64_t *state)
{
	uint64_t	number = random_rank(c, state);

	if (c->sorted)
		return row;
	if (c->selected < 1 && (double) (random_word(state) >> 11) * 0x1p-53 >= c->selected)
		number += key_count(c);
	return number;
}

static void
make_part(unsigned part, unsigned nparts, void *argument)
{
	const join_case *c = argument;
	uint64_t	nkeys = key_count(c);
	uint32_t	frequent[FREQUENT_RANKS] = {0};

	for (uint64_t begin = part * CHUNK_ROWS; begin < side_rows; begin += nparts * CHUNK_ROWS)
	{
		uint64_t	end = begin + CHUNK_ROWS < side_rows ? begin + CHUNK_ROWS : side_rows;
		uint64_t	state = spread(begin + 1);

		for (uint64_t row = begin; row < end; row++)
		{
			uint64_t	number = number_of_s(c, row, &state);

			/* copies of a key of R lie far apart */
			keys[0][row] = key_of(c, row % nkeys);
			keys[1][row] = key_of(c, number);
			if (number < FREQUENT_RANKS)
				frequent[number]++;
			else if (number < nkeys)
				atomic_fetch_add_explicit(&partners[number], 1, memory_order_relaxed);
		}
	}
	for (unsigned i = 0; i < FREQUENT_RANKS && i < nkeys; i++)
		atomic_fetch_add(&partners[i], frequent[i]);
}

static _Atomic uint64_t expected_ranges;
static _Atomic uint64_t expected_matches;

static void
count_part(unsigned part, unsigned nparts, void *argument)
{
	const join_case *c = argument;
	uint64_t	nkeys = key_count(c);
	uint64_t	begin = nkeys / nparts * part;
	uint64_t	end = part + 1 == nparts ? nkeys : nkeys / nparts * (part + 1);
	uint64_t	ranges = 0;
	uint64_t	matches = 0;

	for (uint64_t i = begin; i < end; i++)
	{
		uint64_t	rows = side_rows / nkeys + (i < side_rows % nkeys);

		ranges += partners[i] > 0;
		matches += partners[i] * rows;
	}
	atomic_fetch_add(&expected_ranges, ranges);
	atomic_fetch_add(&expected_matches, matches);
}

static void
make_keys(const join_case *c)
{
	gs_sides	sides = gs_sides_number(side_rows, side_rows, GS_SEGMENT_ROWS);

	memset((void *) partners, 0, key_count(c) * sizeof(*partners));
	bench_parallel(make_part, (void *) c);
	expected_ranges = expected_matches = 0;
	bench_parallel(count_part, (void *) c);
	memcpy(rest, keys[0] + sides.full[0], sides.rest[0] * sizeof(*rest));
	memcpy(rest + sides.rest[0], keys[1] + sides.full[1], sides.rest[1] * sizeof(*rest));
}

/* ---------- ranges ---------- */

typedef struct matching
{
	const gs_merged *merged;
	uint64_t	pieces;
	_Atomic uint64_t next_piece;
	_Atomic uint64_t ranges;
	_Atomic uint64_t matches;

	/* if it is checked */
	_Atomic uint64_t *seen;
	_Atomic uint64_t wrong;		/* rows */
} matching;

/* What a thread has for the piece at hand, and what it found. */
typedef struct matcher
{
	matching   *all;
	gs_cuts		cuts;
	uint32_t   *rows[2];
	gs_equals_end *ends;
	uint64_t	ranges;
	uint64_t	matches;
} matcher;

/* A group that is divided: the rows of R here match all of S. */
static void
match_divided(matcher *m, uint64_t position, uint64_t rows, bool begins)
{
	gs_equals	equals = gs_cuts_equals(&m->cuts, position);
	uint64_t	partners_of_each;

	if (rows == 0)
		return;
	partners_of_each = gs_merged_count(m->all->merged, equals, 1);
	m->matches += rows * partners_of_each;
	m->ranges += begins && partners_of_each > 0;
}

static void
match_piece(matcher *m, uint64_t from, uint64_t to)
{
	const gs_merged *merged = m->all->merged;
	uint32_t	ngroups = gs_merged_split(merged, from, to, m->rows, m->ends);
	bool		begins_divided = gs_merged_is_equal(merged, from);
	bool		ends_divided = to < merged->nrows && gs_merged_is_equal(merged, to);
	gs_equals_end last = {{0, 0}};

	for (uint32_t i = 0; i < ngroups; i++)
	{
		uint64_t	rows[2] = {m->ends[i].rows[0] - last.rows[0], m->ends[i].rows[1] - last.rows[1]};

		last = m->ends[i];
		if ((i == 0 && begins_divided) || (i == ngroups - 1 && ends_divided))
			match_divided(m, i == 0 ? from : to - 1, rows[0], i > 0 || !begins_divided);
		else
		{
			m->ranges += rows[0] > 0 && rows[1] > 0;
			m->matches += rows[0] * rows[1];
		}
	}
}

/* Rows that are not where they should be. */
static uint64_t
check_piece(const matching *all, uint64_t from, uint64_t to)
{
	const gs_merged *merged = all->merged;
	uint64_t	wrong = 0;

	for (uint64_t i = from; i < to; i++)
	{
		uint32_t	row;
		unsigned	side = gs_sides_find(&merged->sides, merged->ids[i], &row);
		uint64_t	bit = UINT64_C(1) << (merged->ids[i] & 63);
		uint64_t	key = keys[side][row];
		uint64_t	key_before;

		wrong += (atomic_fetch_or_explicit(&all->seen[merged->ids[i] >> 6], bit,
										   memory_order_relaxed) & bit) != 0;
		if (i == 0)
			continue;
		side = gs_sides_find(&merged->sides, merged->ids[i - 1], &row);
		key_before = keys[side][row];
		wrong += key_before > key || (key_before == key) != gs_merged_is_equal(merged, i);
	}
	return wrong;
}

static void
match_part(unsigned part, unsigned nparts, void *argument)
{
	matching   *all = argument;
	matcher		m = {.all = all, .cuts = {.merged = all->merged, .piece_rows = PIECE_ROWS}};
	uint64_t	piece;

	m.rows[0] = malloc((2 * PIECE_ROWS + 1) * sizeof(uint32_t));
	m.rows[1] = malloc((2 * PIECE_ROWS + 1) * sizeof(uint32_t));
	m.ends = malloc(2 * PIECE_ROWS * sizeof(*m.ends));
	while ((piece = atomic_fetch_add(&all->next_piece, 1)) < all->pieces)
	{
		uint64_t	from = gs_cuts_begin(&m.cuts, piece);
		uint64_t	to = gs_cuts_begin(&m.cuts, piece + 1);

		if (from < to && all->seen != NULL)
			atomic_fetch_add(&all->wrong, check_piece(all, from, to));
		if (from < to)
			match_piece(&m, from, to);
	}
	atomic_fetch_add(&all->ranges, m.ranges);
	atomic_fetch_add(&all->matches, m.matches);
	free(m.rows[0]);
	free(m.rows[1]);
	free(m.ends);
}

/* Find all ranges; returns how many rows are wrong, if that is to be checked. */
static uint64_t
match(const gs_merged *merged, bool check, found *f)
{
	matching	all = {.merged = merged};
	size_t		seen_bytes = (merged->nrows / 64 + 1) * sizeof(uint64_t);
	double		begin;

	all.pieces = (merged->nrows + PIECE_ROWS - 1) / PIECE_ROWS;
	if (check)
	{
		all.seen = bench_allocate(seen_bytes);
		memset((void *) all.seen, 0, seen_bytes);
	}
	begin = bench_now_ms();
	bench_parallel(match_part, &all);
	f->ranges_ms = bench_now_ms() - begin;
	f->ranges = all.ranges;
	f->matches = all.matches;
	if (check)
		bench_free((void *) all.seen, seen_bytes);
	return all.wrong;
}

/* ---------- devices ---------- */

static void
usage(void)
{
	fprintf(stderr, "see the head of join_bench.c\n");
	exit(2);
}

static void
open_devices(uint64_t most_rows)
{
	if (opt.devices == 0)
		opt.devices = opt.host || opt.same_gpu ? 1 : gs_cuda_count();
	if (opt.devices == 0)
		opt.devices = 1;
	bench_group_open(&group, &(bench_group_options) {
		.host = opt.host,
		.same_gpu = opt.same_gpu,
		.ndevices = opt.devices,
		.arena_bytes = opt.arena_bytes,
		.host_arena_bytes = 2 * most_rows * 64 + ((size_t) 256 << 20),
	});
}

/* The segments of both sides, as one plane's. */
static void **
list_segments(const gs_sides *sides)
{
	uint64_t	segments = (gs_sides_rows(sides) + GS_SEGMENT_ROWS - 1) / GS_SEGMENT_ROWS;
	void	  **parts = malloc((segments + 1) * sizeof(*parts));
	uint64_t	n = 0;

	for (unsigned side = 0; side < 2; side++)
		for (uint64_t row = 0; row < sides->full[side]; row += GS_SEGMENT_ROWS)
			parts[n++] = keys[side] + row;
	for (uint64_t row = 0; row < sides->rest[0] + sides->rest[1]; row += GS_SEGMENT_ROWS)
		parts[n++] = rest + row;
	return parts;
}

static void
sort_once(const gs_sides *sides, found *f)
{
	uint64_t	nrows = gs_sides_rows(sides);
	void	   *id_part = ids;
	void	   *equal_part = equal;
	void	  **parts = list_segments(sides);
	gs_span_plane plane = {.words = {parts, GS_SEGMENT_SHIFT + 3}};
	gs_device_args args = {
		.nrows = nrows,
		.nplanes = 1,
		.planes = &plane,
		.id_bytes = 4,
		.ids = {&id_part, 63},
		.equal = {&equal_part, 63},
	};
	gs_device_job *job;

	bench_group_reset(&group);
	f->device_ms = bench_now_ms();
	job = bench_job_begin(&group, nrows);
	bench_job_run(job, &args, &f->result);
	f->device_ms = bench_now_ms() - f->device_ms;
	bench_job_end(job, &group, spans);
	free(parts);
}

/* ---------- cases ---------- */

/* Sort both sides and find the ranges. */
static found
join_once(bool check)
{
	gs_sides	sides = gs_sides_number(side_rows, side_rows, GS_SEGMENT_ROWS);
	gs_merged	merged = {sides, gs_sides_rows(&sides), ids, equal};
	found		f;
	uint64_t	wrong;

	sort_once(&sides, &f);
	wrong = match(&merged, check, &f);
	if (wrong > 0 || f.ranges != expected_ranges || f.matches != expected_matches)
	{
		fprintf(stderr, "WRONG: %llu rows; %llu ranges, not %llu; %llu matches, not %llu\n",
				(unsigned long long) wrong, (unsigned long long) f.ranges,
				(unsigned long long) expected_ranges, (unsigned long long) f.matches,
				(unsigned long long) expected_matches);
		exit(1);
	}
	return f;
}

static void
report(const join_case *c, const found *f, double device_ms, double ranges_ms)
{
	bench_phases phases = bench_sum_phases(spans, group.ndevices);
	double		rows = 2.0 * (double) side_rows;
	double		up = speeds.all_up[group.ndevices];
	double		down = speeds.all_down[group.ndevices];

	printf("| %llu | %s | %u | %u | %u | %llu | %llu | %.1f | %.1f | %.1f | %.0f | %.1f | ",
		   (unsigned long long) side_rows, c->name, f->result.devices, f->result.key_bits,
		   f->result.rounds, (unsigned long long) f->ranges, (unsigned long long) f->matches,
		   device_ms, ranges_ms, device_ms + ranges_ms, rows / (device_ms + ranges_ms) / 1e3,
		   up > 0 && down > 0 ? (8 * rows / up + 4.125 * rows / down) / 1e6 : 0);
	for (unsigned i = 0; i < phases.nphases; i++)
		printf("%s%s %.1f", i == 0 ? "" : ", ", phases.phases[i].name, phases.phases[i].ms);
	printf(" |\n");
	fflush(stdout);
}

static void
run_case(const join_case *c)
{
	double		device_ms[MAX_REPEATS];
	double		ranges_ms[MAX_REPEATS];
	char		path[1024];
	found		f;

	make_keys(c);
	memset(ids, 0xff, 2 * side_rows * sizeof(*ids));
	f = join_once(true);
	for (unsigned i = 0; i < opt.repeats; i++)
	{
		f = join_once(false);
		device_ms[i] = f.device_ms;
		ranges_ms[i] = f.ranges_ms;
	}
	report(c, &f, bench_median(device_ms, opt.repeats), bench_median(ranges_ms, opt.repeats));
	if (opt.out == NULL || spans[0].count == 0)
		return;
	snprintf(path, sizeof(path), "%s/join-%llu-%s.json", opt.out, (unsigned long long) side_rows,
			 c->name);
	bench_write_trace(path, spans, group.ndevices);
}

/* ---------- options ---------- */

static unsigned
find_case(const char *name)
{
	for (unsigned i = 0; i < NCASES; i++)
		if (strcmp(cases[i].name, name) == 0)
			return i;
	usage();
	return 0;
}

static void
parse_list(int option, char *text)
{
	for (char *word = strtok(text, ","); word != NULL; word = strtok(NULL, ","))
	{
		if (opt.nrows == MAX_LIST || opt.ncases == MAX_LIST)
			usage();
		if (option == 'c')
			opt.cases[opt.ncases++] = find_case(word);
		else
			opt.rows[opt.nrows++] = (uint64_t) strtod(word, NULL);
	}
}

static void
parse_options(int argc, char **argv)
{
	static const struct option names[] = {
		{"host", no_argument, NULL, 'h'},
		{"same-gpu", no_argument, NULL, 's'},
		{"arena", required_argument, NULL, 'a'},
		{"rows", required_argument, NULL, 'r'},
		{"devices", required_argument, NULL, 'd'},
		{"cases", required_argument, NULL, 'c'},
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
			case 's':
				opt.same_gpu = true;
				break;
			case 'a':
				opt.arena_bytes = (size_t) strtod(optarg, NULL);
				break;
			case 'd':
				opt.devices = (unsigned) atoi(optarg);
				break;
			case 'n':
				opt.repeats = (unsigned) atoi(optarg);
				break;
			case 'o':
				opt.out = optarg;
				break;
			case 'r':
			case 'c':
				parse_list(c, optarg);
				break;
			default:
				usage();
		}
	if (opt.repeats < 1 || opt.repeats > MAX_REPEATS || opt.devices > GS_MAX_DEVICES)
		usage();
	if (opt.nrows == 0)
		opt.rows[opt.nrows++] = 10000000;
	if (opt.ncases == 0)
		while (opt.ncases < NCASES)
		{
			opt.cases[opt.ncases] = opt.ncases;
			opt.ncases++;
		}
}

static void
print_head(void)
{
	gs_device_info info;

	for (unsigned d = 0; d < group.ndevices; d++)
	{
		group.devices[d]->ops->info(group.devices[d], &info);
		printf("device %u: %s %u, arena %.1f GB, link %.1f up, %.1f GB/s down; together %.1f up, "
			   "%.1f GB/s down\n", d, info.name, info.number, (double) info.arena_bytes / 1e9,
			   speeds.up[d], speeds.down[d], speeds.all_up[d + 1], speeds.all_down[d + 1]);
	}
	printf("\nms, medians of %u runs; `link` is what 8 bytes a row up and 4 1/8 down take\n\n"
		   "| rows of each side | case | devices | bits | rounds | ranges | matches | devices' part "
		   "| ranges | total | M rows/s | link | devices' phases |\n"
		   "| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: "
		   "| --- |\n", opt.repeats);
	fflush(stdout);
}

int
main(int argc, char **argv)
{
	uint64_t	most = 0;

	parse_options(argc, argv);
	for (unsigned i = 0; i < opt.nrows; i++)
		most = opt.rows[i] > most ? opt.rows[i] : most;
	if (most < 2 || 2 * most > UINT32_MAX)
		usage();
	open_devices(most);
	for (unsigned side = 0; side < 2; side++)
		keys[side] = bench_group_allocate(&group, most * sizeof(*keys[0]));
	rest = bench_group_allocate(&group, 2 * GS_SEGMENT_ROWS * sizeof(*rest));
	ids = bench_group_allocate(&group, 2 * most * sizeof(*ids));
	equal = bench_group_allocate(&group, (2 * most / 64 + 1) * sizeof(*equal));
	partners = bench_allocate(most * sizeof(*partners));
	speeds = bench_links(group.devices, group.ndevices, keys[0], most * sizeof(*keys[0]));
	print_head();
	for (unsigned r = 0; r < opt.nrows; r++)
		for (unsigned i = 0; i < opt.ncases; i++)
		{
			side_rows = opt.rows[r];
			run_case(&cases[opt.cases[i]]);
		}
	bench_group_close(&group);
	return 0;
}
