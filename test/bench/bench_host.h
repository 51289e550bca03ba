/*
 * bench_host.h
 *		The host's part in benchmarks of devices: memory, keys, checks, medians.
 */
#ifndef BENCH_HOST_H
#define BENCH_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Distributions that can be made by many threads at any size. */
typedef enum bench_keys
{
	BENCH_UNIFORM64,
	BENCH_UNIFORM40,
	BENCH_UNIFORM32,
	BENCH_UNIFORM16,
	BENCH_NORMAL,
	BENCH_ZIPF05,
	BENCH_ZIPF1,
	BENCH_ZIPF2,
	BENCH_AND2,
	BENCH_AND4,
	BENCH_AND8,
	BENCH_OUTLIER,
	BENCH_TWO_VALUES,
	BENCH_ZERO,
	BENCH_SORTED,				/* steps of 16 */
	BENCH_NEARLY_SORTED,		/* one row in 64 anywhere */
	BENCH_REVERSE,
	BENCH_HEX,					/* bytes of strings */
	BENCH_NAMES,				/* the same */
	BENCH_KEYS
} bench_keys;

extern const char *bench_keys_name(bench_keys keys);

/* Are they to be numbered? */
extern bool bench_keys_are_bytes(bench_keys keys);

/* By name; BENCH_KEYS if there is none of it. */
extern bench_keys bench_keys_find(const char *name);

/* Run body(part, nparts, argument) on all processors at once. */
extern void bench_parallel(void (*body) (unsigned part, unsigned nparts, void *argument),
						   void *argument);

/* Memory in huge pages where there are any, touched; ends the program if there is none. */
extern void *bench_allocate(size_t bytes);
extern void bench_free(void *memory, size_t bytes);

extern void bench_fill(uint64_t *words, uint64_t nrows, bench_keys keys, uint64_t seed);

/*
 * Are ids a permutation of the rows, words ascending by them, and rows of equal
 * words in ascending order?  Says on stderr what is not.
 */
extern bool bench_verify(const uint64_t *words, const uint32_t *ids, uint64_t nrows);

extern double bench_now_ms(void);

/* Sorts the values. */
extern double bench_median(double *values, unsigned count);

#endif							/* BENCH_HOST_H */
