/*
 * bench_host.c
 *		The host's part in benchmarks of devices: memory, keys, checks, medians.
 *
 * A billion keys have to be made, and their order checked, in a second or two each
 * on a machine whose time is dear, so both are spread over all processors.  The
 * random distributions are those of keys.c, from a stream for each chunk of rows.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "bench_host.h"
#include "keys.h"

#define MAX_THREADS		256
#define CHUNK_ROWS		(UINT64_C(1) << 16)

static const struct
{
	const char *name;
	key_shape	shape;			/* KEY_SHAPES: made here */
}			distributions[BENCH_KEYS] = {
	[BENCH_UNIFORM64] = {"uniform64", KEYS_UNIFORM64},
	[BENCH_UNIFORM40] = {"uniform40", KEYS_UNIFORM40},
	[BENCH_UNIFORM32] = {"uniform32", KEY_SHAPES},
	[BENCH_UNIFORM16] = {"uniform16", KEYS_UNIFORM16},
	[BENCH_NORMAL] = {"normal", KEYS_NORMAL},
	[BENCH_ZIPF05] = {"zipf0.5", KEYS_ZIPF05},
	[BENCH_ZIPF1] = {"zipf1", KEYS_ZIPF1},
	[BENCH_ZIPF2] = {"zipf2", KEYS_ZIPF2},
	[BENCH_AND2] = {"and2", KEYS_AND2},
	[BENCH_AND4] = {"and4", KEYS_AND4},
	[BENCH_AND8] = {"and8", KEYS_AND8},
	[BENCH_OUTLIER] = {"outlier", KEY_SHAPES},
	[BENCH_TWO_VALUES] = {"two", KEYS_TWO_VALUES},
	[BENCH_ZERO] = {"zero", KEYS_ZERO},
	[BENCH_SORTED] = {"sorted", KEY_SHAPES},
	[BENCH_NEARLY_SORTED] = {"nearly", KEY_SHAPES},
	[BENCH_REVERSE] = {"reverse", KEY_SHAPES},
	[BENCH_HEX] = {"hex", KEYS_HEX},
	[BENCH_NAMES] = {"names", KEYS_NAMES},
};

const char *
bench_keys_name(bench_keys keys)
{
	return distributions[keys].name;
}

bool
bench_keys_are_bytes(bench_keys keys)
{
	return keys == BENCH_HEX || keys == BENCH_NAMES;
}

bench_keys
bench_keys_find(const char *name)
{
	bench_keys	keys = 0;

	while (keys < BENCH_KEYS && strcmp(distributions[keys].name, name) != 0)
		keys++;
	return keys;
}

double
bench_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double) t.tv_sec * 1e3 + (double) t.tv_nsec * 1e-6;
}

typedef struct part
{
	void		(*body) (unsigned part, unsigned nparts, void *argument);
	void	   *argument;
	unsigned	number;
	unsigned	nparts;
	pthread_t	thread;
} part;

static void *
run_part(void *argument)
{
	part	   *p = argument;

	p->body(p->number, p->nparts, p->argument);
	return NULL;
}

void
bench_parallel(void (*body) (unsigned part, unsigned nparts, void *argument), void *argument)
{
	static part parts[MAX_THREADS];
	long		processors = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned	nparts = processors < MAX_THREADS ? (unsigned) processors : MAX_THREADS;

	for (unsigned i = 0; i < nparts; i++)
	{
		parts[i] = (part) {.body = body, .argument = argument, .number = i, .nparts = nparts};
		if (pthread_create(&parts[i].thread, NULL, run_part, &parts[i]) != 0)
		{
			perror("pthread_create");
			exit(1);
		}
	}
	for (unsigned i = 0; i < nparts; i++)
		pthread_join(parts[i].thread, NULL);
}

typedef struct stretch
{
	char	   *memory;
	size_t		bytes;
} stretch;

static void
touch_part(unsigned part, unsigned nparts, void *argument)
{
	const stretch *s = argument;
	size_t		begin = s->bytes / nparts * part;
	size_t		end = part + 1 == nparts ? s->bytes : s->bytes / nparts * (part + 1);

	for (size_t at = begin; at < end; at += 4096)
		((volatile char *) s->memory)[at] = 1;
}

void *
bench_allocate(size_t bytes)
{
	stretch		s = {.bytes = bytes};

	s.memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (s.memory == MAP_FAILED)
	{
		perror("mmap");
		exit(1);
	}
	madvise(s.memory, bytes, MADV_HUGEPAGE);
	bench_parallel(touch_part, &s);
	return s.memory;
}

void
bench_free(void *memory, size_t bytes)
{
	munmap(memory, bytes);
}

typedef struct filling
{
	uint64_t   *words;
	uint64_t	nrows;
	bench_keys	keys;
	uint64_t	seed;
} filling;

static uint64_t
make_word(const filling *f, uint64_t row, uint64_t *state)
{
	switch (f->keys)
	{
		case BENCH_UNIFORM32:
			return random_word(state) >> 32;
		case BENCH_OUTLIER:
			return row == 100 ? UINT64_MAX : random_word(state) >> 36;
		case BENCH_SORTED:
			return row << 4;
		case BENCH_NEARLY_SORTED:
			return (random_word(state) % 64 == 0 ? random_word(state) % f->nrows : row) << 4;
		default:				/* BENCH_REVERSE */
			return (f->nrows - row) << 4;
	}
}

static void
fill_part(unsigned part, unsigned nparts, void *argument)
{
	const filling *f = argument;
	key_shape	shape = distributions[f->keys].shape;

	for (uint64_t begin = part * CHUNK_ROWS; begin < f->nrows; begin += nparts * CHUNK_ROWS)
	{
		uint64_t	end = begin + CHUNK_ROWS < f->nrows ? begin + CHUNK_ROWS : f->nrows;
		uint64_t	seed = (f->seed << 40) + begin;
		uint64_t	state = seed;

		/* the streams of two chunks are that of one sequence from two far places */
		seed = random_word(&state);
		if (shape != KEY_SHAPES)
			keys_fill(f->words + begin, end - begin, shape, seed);
		else
			for (uint64_t row = begin; row < end; row++)
				f->words[row] = make_word(f, row, &seed);
	}
}

void
bench_fill(uint64_t *words, uint64_t nrows, bench_keys keys, uint64_t seed)
{
	filling		f = {.words = words, .nrows = nrows, .keys = keys, .seed = seed};

	bench_parallel(fill_part, &f);
}

typedef struct checking
{
	const uint64_t *words;
	const uint32_t *ids;
	uint64_t	nrows;
	_Atomic uint64_t *seen;
	_Atomic uint64_t wrong;		/* first position found wrong, or UINT64_MAX */
} checking;

static void
check_part(unsigned part, unsigned nparts, void *argument)
{
	checking   *c = argument;
	uint64_t	begin = c->nrows / nparts * part;
	uint64_t	end = part + 1 == nparts ? c->nrows : c->nrows / nparts * (part + 1);

	for (uint64_t i = begin; i < end; i++)
	{
		uint64_t	id = c->ids[i];
		uint64_t	bit = UINT64_C(1) << (id & 63);
		bool		good = id < c->nrows &&
			!(atomic_fetch_or_explicit(&c->seen[id >> 6], bit, memory_order_relaxed) & bit);

		if (good && i > 0 && c->ids[i - 1] < c->nrows)
		{
			uint64_t	word = c->words[id];
			uint64_t	before = c->words[c->ids[i - 1]];

			good = before < word || (before == word && c->ids[i - 1] < id);
		}
		if (!good)
		{
			atomic_store(&c->wrong, i);
			return;
		}
	}
}

bool
bench_verify(const uint64_t *words, const uint32_t *ids, uint64_t nrows)
{
	size_t		bytes = (nrows / 64 + 1) * sizeof(uint64_t);
	checking	c = {.words = words, .ids = ids, .nrows = nrows, .wrong = UINT64_MAX};

	c.seen = bench_allocate(bytes);
	memset((void *) c.seen, 0, bytes);
	bench_parallel(check_part, &c);
	bench_free((void *) c.seen, bytes);
	if (c.wrong == UINT64_MAX)
		return true;
	fprintf(stderr, "wrong order at position %llu\n", (unsigned long long) c.wrong);
	return false;
}

static int
compare_doubles(const void *a, const void *b)
{
	double		x = *(const double *) a;
	double		y = *(const double *) b;

	return x < y ? -1 : x > y;
}

double
bench_median(double *values, unsigned count)
{
	qsort(values, count, sizeof(*values), compare_doubles);
	return values[count / 2];
}
