/*
 * engine_bench.c
 *		What the sort engine on the host takes, by step, over rows, keys and participants.
 *
 *		engine_bench [-t participants,...] [-k keys,...] [-r repetitions] [rows ...]
 *
 * Participants are threads, and wait for each other at a barrier of threads; 0 stands for gs_sort(),
 * which one process calls.  Keys are 64-bit words of one plane, as in device_bench.c, or two
 * planes, the first one's keys and a tie-breaker: "uniform16+uniform64".  A case is run once to have its
 * result checked row by row, then as often as told: each line has medians, in milliseconds by the
 * clock, and all of it in ns a row.  Memory is touched before anything is measured, as callers keep theirs.
 *
 *		key			reading all words, for the bits that vary
 *		scan		one item a row; counting a digit
 *		scatter		distributing the items over buckets
 *		nodes		dividing buckets that are too large for one participant
 *		finish		sorting buckets, refining ties, writing row ids
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench_host.h"
#include "engine/host/gs_sort_private.h"

#define MAX_PLANES			2
#define MAX_PARTICIPANTS	256
#define MAX_REPETITIONS		99
#define MAX_LIST			32

enum column
{
	COLUMN_KEY,
	COLUMN_SCAN,
	COLUMN_SCATTER,
	COLUMN_NODES,
	COLUMN_FINISH,
	COLUMN_ALL,
	COLUMNS
};

/* A case, and what was measured. */
typedef struct bench_case
{
	uint64_t	nrows;
	bench_keys	keys[MAX_PLANES];
	unsigned	nplanes;
	unsigned	participants;
	gs_sort_args args;
	gs_plane	planes[MAX_PLANES];
	gs_sort_result result;
	double		ms[COLUMNS][MAX_REPETITIONS];
} bench_case;

/* One sort by a team. */
typedef struct team
{
	bench_case *c;
	gs_shared_sort *shared;
	pthread_barrier_t barrier;
	unsigned	run;
} team;

typedef struct member
{
	team	   *team;
	unsigned	number;
	pthread_t	thread;
	void	   *memory;
	size_t		memory_bytes;
	gs_participant *participant;
} member;

static bench_case the_case;
static unsigned repetitions = 3;

static enum column
column_of(gs_step step)
{
	switch (step)
	{
		case GS_STEP_KEY:
			return COLUMN_KEY;
		case GS_STEP_SCAN:
			return COLUMN_SCAN;
		case GS_STEP_SCATTER:
			return COLUMN_SCATTER;
		case GS_STEP_FINISH:
		case GS_STEP_DONE:
			return COLUMN_FINISH;
		default:
			return COLUMN_NODES;
	}
}

static void *
run_member(void *argument)
{
	member	   *m = argument;
	team	   *team = m->team;
	double		begin;

	m->participant = gs_participant_begin(m->memory, team->shared, &team->c->args);
	pthread_barrier_wait(&team->barrier);
	begin = bench_now_ms();
	for (uint32_t phase = 0; !gs_shared_sort_done(team->shared, phase); phase++)
	{
		enum column column = column_of(team->shared->step);
		double		end;

		pthread_barrier_wait(&team->barrier);
		if (gs_participate(m->participant, phase) != GS_OK)
			exit(1);
		pthread_barrier_wait(&team->barrier);
		end = bench_now_ms();
		if (m->number == 0)
			team->c->ms[column][team->run] += end - begin;
		begin = end;
	}
	return NULL;
}

static void
sort_by_team(bench_case *c, unsigned run)
{
	static member members[MAX_PARTICIPANTS];
	size_t		bytes = gs_shared_sort_bytes(c->nrows, c->nplanes, c->participants);
	team		team = {.c = c, .shared = bench_allocate(bytes), .run = run};

	if (gs_shared_sort_init(team.shared, &c->args, c->participants) != GS_OK)
		exit(1);
	pthread_barrier_init(&team.barrier, NULL, c->participants);
	for (unsigned i = 0; i < c->participants; i++)
	{
		members[i] = (member) {.team = &team, .number = i};
		members[i].memory_bytes = gs_participant_bytes(c->nrows, c->participants);
		members[i].memory = bench_allocate(members[i].memory_bytes);
	}
	for (unsigned i = 0; i < c->participants; i++)
		pthread_create(&members[i].thread, NULL, run_member, &members[i]);
	for (unsigned i = 0; i < c->participants; i++)
		pthread_join(members[i].thread, NULL);
	gs_participant_result(members[0].participant, &c->result);
	for (unsigned i = 0; i < c->participants; i++)
		bench_free(members[i].memory, members[i].memory_bytes);
	bench_free(team.shared, bytes);
}

static void
sort_once(bench_case *c, unsigned run)
{
	double		begin;

	for (int column = 0; column < COLUMNS; column++)
		c->ms[column][run] = 0;
	begin = bench_now_ms();
	if (c->participants > 0)
		sort_by_team(c, run);
	else if (gs_sort(&c->args, &c->result) != GS_OK)
		exit(1);
	else
		c->ms[COLUMN_ALL][run] = bench_now_ms() - begin;
	for (int column = 0; column < COLUMN_ALL; column++)
		c->ms[COLUMN_ALL][run] += c->ms[column][run];
}

static const char *
name_of(const bench_case *c)
{
	static char name[64];

	snprintf(name, sizeof(name), "%s%s%s", bench_keys_name(c->keys[0]), c->nplanes > 1 ? "+" : "",
			 c->nplanes > 1 ? bench_keys_name(c->keys[1]) : "");
	return name;
}

static void
run_case(bench_case *c)
{
	sort_once(c, 0);
	if (c->nplanes == 1 && !bench_verify(c->planes[0].words, c->result.ids, c->nrows))
		exit(1);
	for (unsigned i = 0; i < repetitions; i++)
		sort_once(c, i);
	printf("%11llu  %-20s %4u %5u", (unsigned long long) c->nrows, name_of(c), c->participants,
		   c->result.key_bits);
	for (int column = 0; column < COLUMNS; column++)
		printf(" %8.1f", bench_median(c->ms[column], repetitions));
	printf(" %8.2f\n", bench_median(c->ms[COLUMN_ALL], repetitions) * 1e6 / (double) c->nrows);
	fflush(stdout);
}

typedef struct list
{
	unsigned	count;
	char	   *values[MAX_LIST];
} list;

static list
split_list(char *text)
{
	list		found = {0};

	for (char *word = strtok(text, ","); word != NULL && found.count < MAX_LIST;
		 word = strtok(NULL, ","))
		found.values[found.count++] = word;
	return found;
}

static void
set_keys(bench_case *c, const char *text)
{
	char		words[64];
	char	   *second;

	snprintf(words, sizeof(words), "%s", text);
	second = strchr(words, '+');
	if (second != NULL)
		*second++ = '\0';
	c->nplanes = second == NULL ? 1 : 2;
	c->keys[0] = bench_keys_find(words);
	c->keys[1] = second == NULL ? BENCH_ZERO : bench_keys_find(second);
	if (c->keys[0] == BENCH_KEYS || c->keys[1] == BENCH_KEYS)
	{
		fprintf(stderr, "unknown keys: %s\n", text);
		exit(2);
	}
}

static void
run_keys(uint64_t nrows, const char *keys, const list *participants)
{
	bench_case *c = &the_case;
	static gs_numbering numberings[MAX_PLANES];

	c->nrows = nrows;
	set_keys(c, keys);
	c->args = (gs_sort_args) {
		.nrows = nrows,
		.nplanes = c->nplanes,
		.planes = c->planes,
		.id_bytes = 4,
		.workspace_bytes = gs_sort_workspace_bytes(nrows),
	};
	c->args.workspace = bench_allocate(c->args.workspace_bytes);
	for (unsigned p = 0; p < c->nplanes; p++)
	{
		uint64_t   *words = bench_allocate(nrows * sizeof(uint64_t));

		bench_fill(words, nrows, c->keys[p], p + 1);
		c->planes[p] = (gs_plane) {.words = words};
		/* what participants write there is the same for all */
		if (bench_keys_are_bytes(c->keys[p]))
			c->planes[p].numbering = &numberings[p];
	}
	for (unsigned i = 0; i < participants->count; i++)
	{
		c->participants = (unsigned) atoi(participants->values[i]);
		if (c->participants <= MAX_PARTICIPANTS)
			run_case(c);
	}
	for (unsigned p = 0; p < c->nplanes; p++)
		bench_free((void *) c->planes[p].words, nrows * sizeof(uint64_t));
	bench_free(c->args.workspace, c->args.workspace_bytes);
}

int
main(int argc, char **argv)
{
	char		default_participants[] = "0";
	char		default_keys[] = "uniform64,uniform40,uniform16,normal,zipf1,and4,outlier,two,"
		"zero,sorted,nearly,reverse,hex,names,uniform16+uniform64,two+uniform64,zipf1+uniform40";
	char		default_rows[] = "100000,1000000,10000000";
	list		participants = split_list(default_participants);
	list		keys = split_list(default_keys);
	list		rows = split_list(default_rows);
	int			option;

	while ((option = getopt(argc, argv, "t:k:r:")) != -1)
	{
		if (option == 't')
			participants = split_list(optarg);
		else if (option == 'k')
			keys = split_list(optarg);
		else if (option == 'r')
			repetitions = (unsigned) atoi(optarg);
		else
			return 2;
	}
	if (repetitions < 1 || repetitions > MAX_REPETITIONS)
		repetitions = 3;
	if (optind < argc)
		rows.count = 0;
	for (; optind < argc && rows.count < MAX_LIST; optind++)
		rows.values[rows.count++] = argv[optind];
	printf("       rows  keys                    by  bits      key     scan  scatter    nodes   finish"
		   "   all ms ns a row\n");
	for (unsigned i = 0; i < rows.count; i++)
		for (unsigned k = 0; k < keys.count; k++)
			run_keys((uint64_t) strtod(rows.values[i], NULL), keys.values[k], &participants);
	return 0;
}
