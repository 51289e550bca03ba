/*
 * keys.h
 *		Key words for tests and benchmarks, reproducible from a seed.
 */
#ifndef KEYS_H
#define KEYS_H

#include <stdint.h>

typedef enum key_shape
{
	KEYS_UNIFORM64,
	KEYS_UNIFORM62,
	KEYS_UNIFORM40,
	KEYS_UNIFORM32,
	KEYS_UNIFORM16,
	KEYS_UNIFORM8,
	KEYS_UNIFORM4,
	KEYS_SPREAD16,				/* 2^16 different words all over 64 bits */
	KEYS_NORMAL,
	KEYS_ZERO,
	KEYS_SORTED,
	KEYS_SORTED_WIDE,			/* ascending, steps of about 2^40 */
	KEYS_NEARLY_SORTED,			/* one row in 64 out of place */
	KEYS_REVERSE,
	KEYS_REVERSE_WIDE,
	KEYS_REVERSE_TIES,			/* descending, each key about four times */
	KEYS_SORTED_HALVES,			/* 0, then 2^64 - 1 */
	KEYS_SORTED_TIE,			/* ascending; rows 2^16 - 1 and 2^16 tie */
	KEYS_SAWTOOTH,				/* falls every 512 rows only */
	KEYS_ORGAN_PIPE,
	KEYS_ZIPF05,
	KEYS_ZIPF1,
	KEYS_ZIPF15,
	KEYS_ZIPF2,
	KEYS_AND2,					/* AND of two random words: 52 bits of entropy */
	KEYS_AND3,
	KEYS_AND4,
	KEYS_AND8,
	KEYS_TWO_VALUES,
	KEYS_EXTREMES,				/* 0 and 2^64 - 1 */
	KEYS_SHARED_HIGH,			/* 40 leading bits in common */
	KEYS_SHARED_LOW,			/* 40 trailing bits in common */
	KEYS_OUTLIER,				/* narrow, but for one row */
	KEYS_CLUSTER,				/* uniform, but for one row in KEYS_CLUSTER_EVERY
								 * that all share their 40 leading bits */
	KEYS_STAIRCASE,				/* tie on every prefix, in long runs */
	KEYS_HEX,					/* eight hexadecimal digits */
	KEYS_NAMES,					/* up to eight lower case letters, zeros behind them */
	KEY_SHAPES
} key_shape;

#define KEYS_CLUSTER_EVERY	97

extern const char *key_shape_name(key_shape shape);
extern void keys_fill(uint64_t *words, uint64_t count, key_shape shape, uint64_t seed);

/* The next word of a splitmix64 stream. */
extern uint64_t random_word(uint64_t *state);

#endif							/* KEYS_H */
