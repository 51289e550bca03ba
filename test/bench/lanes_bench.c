/*
 * lanes_bench.c
 *		Small sorts of many sessions on one device: on lanes of it, and one at a time.
 *
 *		lanes_bench [--host] [--rows N,...] [--sessions N,...] [--lanes N,...] [--beside N]
 *					[--seconds S]
 *
 * Every combination of rows, lanes and sessions is one case.  Sessions are threads that sort so
 * many uniform 64-bit words, host memory to host memory, again and again for some seconds,
 * each whenever there is a lane for it; with 0 lanes they take turns at the device itself.  With
 * --beside, one more session sorts so many words on the device itself meanwhile.  Those who wait
 * come in the order in which they began to.  The table has sorts a second, and ms from the wish to
 * sort until the last id is in place; each session's last result is checked row by row.
 */
#include <getopt.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_host.h"
#include "device_bench.h"
#include "engine/simulated/gs_simulated_device.h"
#include "gs_cuda.h"

#define MAX_LIST		16
#define MAX_SESSIONS	64
#define MAX_LANES		16
#define MAX_TIMES		200000
#define LANE_BYTES		((size_t) 512 << 20)
#define HOST_LANE_BYTES	((size_t) 64 << 20)

typedef struct list
{
	unsigned	count;
	uint64_t	values[MAX_LIST];
} list;

static bool host;
static double seconds = 1;
static uint64_t beside_rows;
static list rows_list = {2, {100000, 1000000}};
static list sessions_list = {3, {1, 4, 16}};
static list lanes_list = {2, {0, 4}};

static gs_device *device;

/* Who waits for a lane, or for the device itself. */
typedef struct queue
{
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	unsigned	ngroups;
	gs_group	groups[MAX_LANES];
	bool		taken[MAX_LANES];
	uint64_t	next_ticket;
	uint64_t	served;
} queue;

static queue lanes_queue = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
static queue device_queue = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
static volatile double end_ms;

typedef struct session
{
	pthread_t	thread;
	queue	   *queue;
	uint64_t	nrows;
	uint64_t   *words;
	uint32_t   *ids;
	unsigned	ntimes;
	double	   *times;
} session;

static session sessions[MAX_SESSIONS + 1];

static list
parse_list(char *text)
{
	list		l = {.count = 0};

	for (char *word = strtok(text, ","); word != NULL && l.count < MAX_LIST; word = strtok(NULL, ","))
		l.values[l.count++] = (uint64_t) strtod(word, NULL);
	return l;
}

static void
parse_options(int argc, char **argv)
{
	static const struct option names[] = {
		{"host", no_argument, NULL, 'h'},
		{"rows", required_argument, NULL, 'r'},
		{"sessions", required_argument, NULL, 's'},
		{"lanes", required_argument, NULL, 'l'},
		{"beside", required_argument, NULL, 'b'},
		{"seconds", required_argument, NULL, 't'},
		{NULL, 0, NULL, 0}
	};
	int			c;

	while ((c = getopt_long(argc, argv, "", names, NULL)) != -1)
		switch (c)
		{
			case 'h':
				host = true;
				break;
			case 'r':
				rows_list = parse_list(optarg);
				break;
			case 's':
				sessions_list = parse_list(optarg);
				break;
			case 'l':
				lanes_list = parse_list(optarg);
				break;
			case 'b':
				beside_rows = (uint64_t) strtod(optarg, NULL);
				break;
			case 't':
				seconds = strtod(optarg, NULL);
				break;
			default:
				fprintf(stderr, "see the head of lanes_bench.c\n");
				exit(2);
		}
}

static uint64_t
greatest(const list *l)
{
	uint64_t	most = 0;

	for (unsigned i = 0; i < l->count; i++)
		most = l->values[i] > most ? l->values[i] : most;
	return most;
}

/* Wait for one's turn; the number of the group that is one's own then. */
static unsigned
take_group(queue *q)
{
	uint64_t	ticket;
	unsigned	free_group;

	pthread_mutex_lock(&q->mutex);
	ticket = q->next_ticket++;
	for (;;)
	{
		for (free_group = 0; free_group < q->ngroups && q->taken[free_group];)
			free_group++;
		if (ticket == q->served && free_group < q->ngroups)
			break;
		pthread_cond_wait(&q->changed, &q->mutex);
	}
	q->taken[free_group] = true;
	q->served++;
	pthread_cond_broadcast(&q->changed);
	pthread_mutex_unlock(&q->mutex);
	return free_group;
}

static void
give_group(queue *q, unsigned group)
{
	pthread_mutex_lock(&q->mutex);
	q->taken[group] = false;
	pthread_cond_broadcast(&q->changed);
	pthread_mutex_unlock(&q->mutex);
}

static void
must(gs_status status, const char *message)
{
	if (status == GS_OK)
		return;
	fprintf(stderr, "%s (%s)\n", gs_status_text(status), message == NULL ? "" : message);
	exit(1);
}

static void
sort_once(session *self, gs_group *group)
{
	void	   *word_part = self->words;
	void	   *id_part = self->ids;
	gs_span_plane plane = {.words = {&word_part, 63}};
	gs_device_args args = {
		.nrows = self->nrows,
		.nplanes = 1,
		.planes = &plane,
		.id_bytes = 4,
		.ids = {&id_part, 63},
	};
	const char *message = NULL;
	gs_device_result result;
	gs_device_job *job;
	uint64_t	ready = 0;

	must(gs_device_begin(group, 1, self->nrows, &job), NULL);
	must(gs_device_run(job, &args, &result, &message), message);
	while (ready < self->nrows)
		must(gs_device_wait(job, &ready, &message), message);
	gs_device_end(job);
}

static void *
play_session(void *arg)
{
	session    *self = arg;

	self->ntimes = 0;
	do
	{
		double		begin = bench_now_ms();
		unsigned	group = take_group(self->queue);

		sort_once(self, &self->queue->groups[group]);
		give_group(self->queue, group);
		if (self->ntimes < MAX_TIMES)
			self->times[self->ntimes++] = bench_now_ms() - begin;
	} while (bench_now_ms() < end_ms);
	return NULL;
}

static int
compare_times(const void *a, const void *b)
{
	double		x = *(const double *) a;
	double		y = *(const double *) b;

	return (x > y) - (x < y);
}

static double
quantile(const double *times, unsigned count, double q)
{
	return count == 0 ? 0 : times[(unsigned) ((count - 1) * q)];
}

static void
run_case(uint64_t nrows, unsigned nlanes, unsigned nsessions)
{
	static double times[MAX_SESSIONS * 4096];
	session    *large = &sessions[MAX_SESSIONS];
	unsigned	count = 0;
	uint64_t	sorts = 0;
	double		begin = bench_now_ms();
	double		took;
	bool		right = true;

	end_ms = begin + seconds * 1e3;
	for (unsigned i = 0; i < nsessions; i++)
	{
		sessions[i].nrows = nrows;
		sessions[i].queue = nlanes > 0 ? &lanes_queue : &device_queue;
		pthread_create(&sessions[i].thread, NULL, play_session, &sessions[i]);
	}
	if (beside_rows > 0)
		pthread_create(&large->thread, NULL, play_session, large);
	for (unsigned i = 0; i < nsessions; i++)
		pthread_join(sessions[i].thread, NULL);
	took = bench_now_ms() - begin;
	if (beside_rows > 0)
		pthread_join(large->thread, NULL);
	for (unsigned i = 0; i < nsessions; i++)
	{
		session    *s = &sessions[i];
		unsigned	step = s->ntimes / 4096 + 1;

		sorts += s->ntimes;
		for (unsigned t = 0; t < s->ntimes; t += step)
			times[count++] = s->times[t];
		right &= bench_verify(s->words, s->ids, nrows);
	}
	qsort(times, count, sizeof(*times), compare_times);
	printf("| %llu | %u | %u | %.0f | %.1f | %.3f | %.3f | %.3f |", (unsigned long long) nrows,
		   nlanes, nsessions, (double) sorts / took * 1e3, (double) (sorts * nrows) / took / 1e3,
		   quantile(times, count, 0.5), quantile(times, count, 0.99), quantile(times, count, 1));
	if (beside_rows > 0)
	{
		right &= bench_verify(large->words, large->ids, beside_rows);
		qsort(large->times, large->ntimes, sizeof(double), compare_times);
		printf(" %.2f | %.2f |", quantile(large->times, large->ntimes, 0.5),
			   quantile(large->times, large->ntimes, 1));
	}
	printf("%s\n", right ? "" : " WRONG");
	fflush(stdout);
	if (!right)
		exit(1);
}

/* Open or close lanes until there are so many. */
static void
set_lanes(unsigned nlanes)
{
	queue	   *q = &lanes_queue;

	while (q->ngroups > nlanes)
	{
		gs_device  *lane = q->groups[--q->ngroups].devices[0];

		lane->ops->close(lane);
	}
	while (q->ngroups < nlanes)
	{
		gs_device  *lane = device->ops->open_lane(device, host ? HOST_LANE_BYTES : LANE_BYTES);

		if (lane == NULL)
			must(GS_NO_SPACE, device->error);
		q->groups[q->ngroups++] = (gs_group) {.ndevices = 1,.devices = {lane}};
	}
}

static void
prepare_session(session *s, uint64_t nrows, uint64_t seed)
{
	size_t		bytes = nrows * (sizeof(*s->words) + sizeof(*s->ids));

	s->nrows = nrows;
	s->words = bench_allocate(bytes);
	s->ids = (uint32_t *) (s->words + nrows);
	s->times = calloc(MAX_TIMES, sizeof(*s->times));
	bench_must(device, device->ops->host_register(device, s->words, bytes), "host_register");
	bench_fill(s->words, nrows, BENCH_UNIFORM64, seed);
}

static void
open_device(void)
{
	char		error[256] = "no memory";

	if (host)
		device = gs_simulated_device_open(0, MAX_LANES * HOST_LANE_BYTES + greatest(&rows_list) * 64 +
										  beside_rows * 64, 0);
	else
		device = gs_cuda_device_open(0, 0, 0, 0, error, sizeof(error));
	if (device == NULL)
	{
		fprintf(stderr, "cannot open the device: %s\n", error);
		exit(1);
	}
	device_queue.ngroups = 1;
	device_queue.groups[0] = (gs_group) {.ndevices = 1,.devices = {device}};
}

int
main(int argc, char **argv)
{
	setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
	parse_options(argc, argv);
	if (greatest(&sessions_list) > MAX_SESSIONS || greatest(&lanes_list) > MAX_LANES)
		return 2;
	open_device();
	for (unsigned i = 0; i < greatest(&sessions_list); i++)
		prepare_session(&sessions[i], greatest(&rows_list), i + 1);
	if (beside_rows > 0)
	{
		prepare_session(&sessions[MAX_SESSIONS], beside_rows, 99);
		sessions[MAX_SESSIONS].queue = &device_queue;
	}
	printf("| rows | lanes | sessions | sorts/s | M rows/s | ms, median | 99 %% | longest |%s\n"
		   "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |%s\n",
		   beside_rows > 0 ? " beside, ms | longest |" : "", beside_rows > 0 ? " ---: | ---: |" : "");
	for (unsigned r = 0; r < rows_list.count; r++)
		for (unsigned l = 0; l < lanes_list.count; l++)
		{
			set_lanes((unsigned) lanes_list.values[l]);
			for (unsigned s = 0; s < sessions_list.count; s++)
				run_case(rows_list.values[r], (unsigned) lanes_list.values[l],
						 (unsigned) sessions_list.values[s]);
		}
	set_lanes(0);
	device->ops->close(device);
	return 0;
}
