/*
 * engine_bench.c
 *		What the sort engine costs: ns a row by phase, over rows and entropy.
 *
 *		engine_bench [-b] [-4] [-r repetitions] [rows ...]
 *
 * -b leaves out the baseline, -4 uses small pages.  Each line is the median of
 * the repetitions.  The phases are the engine's own functions, called one by
 * one; "sort" is gs_sort() as a whole, which is what they should add up to.
 * The baseline is the C library's qsort() of (words, row id) records, which on
 * glibc is a merge sort.
 *
 * Times are CPU times of the process, so that neighbours disturb them less.
 * Memory is touched before anything is measured: callers keep theirs.
 */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "engine/host/gs_buckets.h"
#include "engine/host/gs_key.h"
#include "engine/host/gs_refine.h"
#include "engine/host/gs_scan.h"
#include "keys.h"

#define MAX_PLANES		4
#define MAX_REPETITIONS	99

typedef struct workload
{
	const char *name;
	unsigned	nplanes;
	key_shape	shapes[MAX_PLANES];
} workload;

static const workload workloads[] = {
	{"uniform 62 bits", 1, {KEYS_UNIFORM62}},
	{"uniform 40 bits", 1, {KEYS_UNIFORM40}},
	{"uniform 16 bits", 1, {KEYS_UNIFORM16}},
	{"2^16 values of 64 bits", 1, {KEYS_SPREAD16}},
	{"AND of 2", 1, {KEYS_AND2}},
	{"AND of 4", 1, {KEYS_AND4}},
	{"AND of 8", 1, {KEYS_AND8}},
	{"normal", 1, {KEYS_NORMAL}},
	{"Zipf 1", 1, {KEYS_ZIPF1}},
	{"one outlier", 1, {KEYS_OUTLIER}},
	{"staircase", 1, {KEYS_STAIRCASE}},
	{"two values", 1, {KEYS_EXTREMES}},
	{"sorted", 1, {KEYS_SORTED}},
	{"sorted, wide", 1, {KEYS_SORTED_WIDE}},
	{"nearly sorted", 1, {KEYS_NEARLY_SORTED}},
	{"reverse", 1, {KEYS_REVERSE}},
	{"reverse, wide", 1, {KEYS_REVERSE_WIDE}},
	{"16 + 16 bits", 2, {KEYS_UNIFORM16, KEYS_UNIFORM16}},
	{"16 + 62 bits", 2, {KEYS_UNIFORM16, KEYS_UNIFORM62}},
	{"2^16 values + 62 bits", 2, {KEYS_SPREAD16, KEYS_UNIFORM62}},
	{"64 + 64 bits", 2, {KEYS_UNIFORM64, KEYS_UNIFORM64}},
	{"Zipf 1 + 40 bits", 2, {KEYS_ZIPF1, KEYS_UNIFORM40}},
	{"4 planes of Zipf 2", 4, {KEYS_ZIPF2, KEYS_ZIPF2, KEYS_ZIPF2, KEYS_ZIPF2}},
};

enum phase
{
	PHASE_LAYOUT,
	PHASE_SCAN,
	PHASE_PARTITION,
	PHASE_REFINE,
	PHASE_SORT,
	PHASE_BASELINE,
	PHASES
};

typedef struct samples
{
	double		ns[PHASES][MAX_REPETITIONS];
} samples;

static bool small_pages;
static bool skip_baseline;
static int	repetitions = 5;

static double
now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double) t.tv_sec * 1e9 + (double) t.tv_nsec;
}

static void *
allocate(size_t bytes)
{
	void	   *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
	{
		perror("mmap");
		exit(1);
	}
	madvise(memory, bytes, small_pages ? MADV_NOHUGEPAGE : MADV_HUGEPAGE);
	memset(memory, 1, bytes);
	return memory;
}

/* The engine's phases as gs_sort() runs them, with a clock between. */
static void
measure_phases(const gs_sort_args *args, samples *s, int repetition)
{
	gs_job		job = {.nrows = args->nrows};
	double		clock[PHASE_REFINE + 2];
	gs_cursor	cursor;
	gs_digits	digits;
	gs_order	order;
	unsigned	section_bits;
	unsigned	bucket_bits;
	unsigned	bits;

	job.scratch = args->workspace;
	job.layout = &job.scratch->layout;
	job.id_bits = gs_bit_width(args->nrows - 1);
	job.items = (uint64_t *) (job.scratch + 1);
	job.spare = job.items + args->nrows;

	clock[0] = now_ns();
	gs_key_build(&job.scratch->layout, args);
	clock[1] = now_ns();
	cursor = gs_layout_start(job.layout);
	section_bits = gs_job_section_bits(&job, cursor);
	bucket_bits = gs_bucket_bits(job.nrows, section_bits);
	bits = bucket_bits > 0 ? bucket_bits : gs_radix_bits(job.nrows, section_bits);
	digits = gs_radix_digits(job.nrows, job.id_bits + section_bits - bits, bits);
	gs_section_build(&job.scratch->section, job.layout, &cursor, section_bits);
	gs_scan_rows(&job, &job.scratch->section, digits, &order);
	clock[2] = now_ns();
	if (order.descending && !order.ascending)
		gs_scan_reverse(&job);
	else if (!order.ascending && bucket_bits > 0)
		gs_buckets_sort(&job, digits);
	else if (!order.ascending &&
			 gs_radix_partition(&job, digits, job.items, job.spare, job.nrows) != job.items)
		gs_job_swap_halves(&job);
	clock[3] = now_ns();
	if (!order.ascending && !order.descending && bucket_bits == 0)
		gs_items_sort_ties(&job, (gs_range) {0, job.nrows}, digits.low_bit);
	gs_refine(&job, (gs_range) {0, job.nrows}, cursor);
	clock[4] = now_ns();
	for (int phase = PHASE_LAYOUT; phase <= PHASE_REFINE; phase++)
		s->ns[phase][repetition] = clock[phase + 1] - clock[phase];
}

typedef struct record
{
	uint64_t	words[MAX_PLANES];
	uint64_t	row;
} record;

static int
compare_records(const void *a_pointer, const void *b_pointer)
{
	const record *a = a_pointer;
	const record *b = b_pointer;

	for (int p = 0; p < MAX_PLANES; p++)
		if (a->words[p] != b->words[p])
			return a->words[p] < b->words[p] ? -1 : 1;
	return a->row < b->row ? -1 : 1;
}

/* Time of the baseline; ends the program if the engine's order is another. */
static double
measure_baseline(const gs_sort_args *args, const gs_sort_result *result)
{
	record	   *records = calloc(args->nrows, sizeof(record));
	double		begin;
	double		end;

	for (uint64_t i = 0; i < args->nrows; i++)
	{
		for (unsigned p = 0; p < args->nplanes; p++)
			records[i].words[p] = args->planes[p].words[i];
		records[i].row = i;
	}
	begin = now_ns();
	qsort(records, args->nrows, sizeof(record), compare_records);
	end = now_ns();
	for (uint64_t i = 0; i < args->nrows; i++)
		if (records[i].row != ((const uint32_t *) result->ids)[i])
		{
			fprintf(stderr, "wrong order at position %llu\n", (unsigned long long) i);
			exit(1);
		}
	free(records);
	return end - begin;
}

static int
compare_doubles(const void *a, const void *b)
{
	return *(const double *) a < *(const double *) b ? -1 : 1;
}

static double
median(double *values, int count)
{
	qsort(values, (size_t) count, sizeof(*values), compare_doubles);
	return values[count / 2];
}

static void
report(const workload *w, const gs_sort_args *args, const gs_sort_result *result, samples *s)
{
	double		rows = (double) args->nrows;

	printf("%9llu  %-24s %4u %3u %8.1f", (unsigned long long) args->nrows, w->name,
		   result->key_bits, result->passes, 100.0 * (double) result->refined_rows / rows);
	for (int phase = 0; phase < PHASE_SORT; phase++)
		printf(" %7.2f", median(s->ns[phase], repetitions) / rows);
	printf(" %8.2f", median(s->ns[PHASE_SORT], repetitions) / rows);
	if (!skip_baseline)
		printf(" %8.1f", s->ns[PHASE_BASELINE][0] / rows);
	putchar('\n');
	fflush(stdout);
}

static void
run_workload(const workload *w, uint64_t nrows)
{
	static samples s;
	gs_plane	planes[MAX_PLANES] = {{.words = NULL}};
	gs_sort_result result;
	gs_sort_args args = {
		.nrows = nrows,
		.nplanes = w->nplanes,
		.planes = planes,
		.id_bytes = 4,
		.workspace_bytes = gs_sort_workspace_bytes(nrows),
	};

	args.workspace = allocate(args.workspace_bytes);
	for (unsigned p = 0; p < w->nplanes; p++)
	{
		uint64_t   *words = allocate(nrows * sizeof(uint64_t));

		keys_fill(words, nrows, w->shapes[p], p + 1);
		planes[p].words = words;
	}
	for (int i = 0; i < repetitions; i++)
	{
		double		begin;

		measure_phases(&args, &s, i);
		begin = now_ns();
		if (gs_sort(&args, &result) != GS_OK)
			exit(1);
		s.ns[PHASE_SORT][i] = now_ns() - begin;
	}
	if (!skip_baseline)
		s.ns[PHASE_BASELINE][0] = measure_baseline(&args, &result);
	report(w, &args, &result, &s);

	for (unsigned p = 0; p < w->nplanes; p++)
		munmap((void *) planes[p].words, nrows * sizeof(uint64_t));
	munmap(args.workspace, args.workspace_bytes);
}

static void
run_size(uint64_t nrows)
{
	if (nrows < 2 || nrows > UINT32_MAX)
	{
		fprintf(stderr, "the number of rows must be from 2 to 2^32 - 1\n");
		exit(1);
	}
	for (size_t i = 0; i < sizeof(workloads) / sizeof(workloads[0]); i++)
		run_workload(&workloads[i], nrows);
}

int
main(int argc, char **argv)
{
	int			arg = 1;

	for (; arg < argc && argv[arg][0] == '-'; arg++)
	{
		if (strcmp(argv[arg], "-b") == 0)
			skip_baseline = true;
		else if (strcmp(argv[arg], "-4") == 0)
			small_pages = true;
		else if (strcmp(argv[arg], "-r") == 0 && arg + 1 < argc)
			repetitions = atoi(argv[++arg]);
		if (repetitions < 1 || repetitions > MAX_REPETITIONS)
			repetitions = 5;
	}
	printf("     rows  keys                     bits pas refined%%  layout    scan  passes  refine"
		   "     sort%s\n", skip_baseline ? "" : "    qsort");
	if (arg == argc)
		for (uint64_t nrows = 100000; nrows <= 10000000; nrows *= 10)
			run_size(nrows);
	for (; arg < argc; arg++)
		run_size(strtoull(argv[arg], NULL, 10));
	return 0;
}
