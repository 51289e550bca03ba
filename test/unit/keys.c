/*
 * keys.c
 *		Key words for tests and benchmarks, reproducible from a seed.
 */
#include <math.h>

#include "keys.h"

static const char *const shape_names[KEY_SHAPES] = {
	[KEYS_UNIFORM64] = "uniform 64 bits",
	[KEYS_UNIFORM62] = "uniform 62 bits",
	[KEYS_UNIFORM40] = "uniform 40 bits",
	[KEYS_UNIFORM32] = "uniform 32 bits",
	[KEYS_UNIFORM16] = "uniform 16 bits",
	[KEYS_UNIFORM8] = "uniform 8 bits",
	[KEYS_UNIFORM4] = "uniform 4 bits",
	[KEYS_SPREAD16] = "2^16 values over 64 bits",
	[KEYS_NORMAL] = "normal",
	[KEYS_ZERO] = "zero",
	[KEYS_SORTED] = "sorted",
	[KEYS_SORTED_WIDE] = "sorted, wide steps",
	[KEYS_NEARLY_SORTED] = "nearly sorted",
	[KEYS_REVERSE] = "reverse",
	[KEYS_REVERSE_WIDE] = "reverse, wide steps",
	[KEYS_REVERSE_TIES] = "reverse with ties",
	[KEYS_SORTED_HALVES] = "sorted, two values",
	[KEYS_SORTED_TIE] = "sorted, one tie",
	[KEYS_SAWTOOTH] = "sawtooth",
	[KEYS_ORGAN_PIPE] = "organ pipe",
	[KEYS_ZIPF05] = "Zipf 0.5",
	[KEYS_ZIPF1] = "Zipf 1",
	[KEYS_ZIPF15] = "Zipf 1.5",
	[KEYS_ZIPF2] = "Zipf 2",
	[KEYS_AND2] = "AND of 2",
	[KEYS_AND3] = "AND of 3",
	[KEYS_AND4] = "AND of 4",
	[KEYS_AND8] = "AND of 8",
	[KEYS_TWO_VALUES] = "two values",
	[KEYS_EXTREMES] = "extremes",
	[KEYS_SHARED_HIGH] = "shared leading bits",
	[KEYS_SHARED_LOW] = "shared trailing bits",
	[KEYS_OUTLIER] = "one outlier",
	[KEYS_CLUSTER] = "a cluster",
	[KEYS_STAIRCASE] = "staircase",
	[KEYS_HEX] = "hexadecimal digits",
	[KEYS_NAMES] = "lower case letters",
};

const char *
key_shape_name(key_shape shape)
{
	return shape_names[shape];
}

uint64_t
random_word(uint64_t *state)
{
	uint64_t	z = (*state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* Uniform in (0, 1]. */
static double
random_unit(uint64_t *state)
{
	return ((double) (random_word(state) >> 11) + 1) / 9007199254740992.0;
}

static uint64_t
random_normal(uint64_t *state)
{
	double		radius = sqrt(-2 * log(random_unit(state)));

	return (uint64_t) (INT64_C(1) << 62) +
		(uint64_t) (int64_t) (radius * cos(6.283185307179586 * random_unit(state)) * 1e15);
}

/*
 * A rank of about a million by the inverse of the continuous distribution,
 * its digits scrambled so that frequent words are all over the range.
 */
static uint64_t
random_zipf(uint64_t *state, double exponent)
{
	double		ranks = 1e6;
	double		unit = random_unit(state);
	double		rank;

	if (exponent == 1)
		rank = exp(unit * log(ranks));
	else
		rank = pow(unit * (pow(ranks, 1 - exponent) - 1) + 1, 1 / (1 - exponent));
	return (uint64_t) rank * UINT64_C(0x9e3779b97f4a7c15);
}

static uint64_t
random_and(uint64_t *state, int words)
{
	uint64_t	word = random_word(state);

	while (--words > 0)
		word &= random_word(state);
	return word;
}

/* Some random characters of a set, zeros behind them. */
static uint64_t
random_string(uint64_t *state, const char *set, unsigned set_size, unsigned length)
{
	uint64_t	word = 0;

	for (unsigned i = 0; i < 8; i++)
		word = word << 8 | (i < length ? (unsigned char) set[random_word(state) % set_size] : 0);
	return word;
}

static uint64_t
ordered_word(key_shape shape, uint64_t i, uint64_t count, uint64_t *state)
{
	switch (shape)
	{
		case KEYS_SORTED:
			return i + 1000;
		case KEYS_SORTED_WIDE:
			return (i << 40) + (random_word(state) >> 24);
		case KEYS_NEARLY_SORTED:
			return random_word(state) % 64 == 0 ? random_word(state) % count << 20 : i << 20;
		case KEYS_REVERSE:
			return count - i;
		case KEYS_REVERSE_WIDE:
			return ((count - i) << 40) + (random_word(state) >> 24);
		case KEYS_REVERSE_TIES:
			return (count - i) / 4 << 33;
		case KEYS_SORTED_HALVES:
			return i < count / 2 ? 0 : UINT64_MAX;
		case KEYS_SORTED_TIE:
			return (i < 65536 ? i : i - 1) << 40;
		case KEYS_SAWTOOTH:
			return i % 512;
		default:				/* KEYS_ORGAN_PIPE */
			return i < count / 2 ? i : count - i;
	}
}

static uint64_t
random_shaped(key_shape shape, uint64_t i, uint64_t *state)
{
	switch (shape)
	{
		case KEYS_UNIFORM64:
			return random_word(state);
		case KEYS_UNIFORM62:
			return random_word(state) >> 2;
		case KEYS_UNIFORM40:
			return random_word(state) >> 24;
		case KEYS_UNIFORM32:
			return random_word(state) >> 32;
		case KEYS_UNIFORM16:
			return random_word(state) >> 48;
		case KEYS_UNIFORM8:
			return random_word(state) >> 56;
		case KEYS_UNIFORM4:
			return random_word(state) >> 60;
		case KEYS_SPREAD16:
			{
				uint64_t	value = random_word(state) >> 48;

				return random_word(&value);
			}
		case KEYS_NORMAL:
			return random_normal(state);
		case KEYS_ZIPF05:
			return random_zipf(state, 0.5);
		case KEYS_ZIPF1:
			return random_zipf(state, 1);
		case KEYS_ZIPF15:
			return random_zipf(state, 1.5);
		case KEYS_ZIPF2:
			return random_zipf(state, 2);
		case KEYS_AND2:
			return random_and(state, 2);
		case KEYS_AND3:
			return random_and(state, 3);
		case KEYS_AND4:
			return random_and(state, 4);
		case KEYS_AND8:
			return random_and(state, 8);
		case KEYS_TWO_VALUES:
			return random_word(state) & 1 ? 17 : 42;
		case KEYS_EXTREMES:
			return random_word(state) & 1 ? 0 : UINT64_MAX;
		case KEYS_SHARED_HIGH:
			return UINT64_C(0xabcdef0123) << 24 | random_word(state) >> 40;
		case KEYS_SHARED_LOW:
			return random_word(state) << 40 | UINT64_C(0xabcdef0123);
		case KEYS_OUTLIER:
			return i == 100 ? UINT64_MAX : random_word(state) >> 36;
		case KEYS_CLUSTER:
			return i % KEYS_CLUSTER_EVERY == 5 ? UINT64_C(0xabcdef0123) << 24 | random_word(state) >> 40
				: random_word(state);
		case KEYS_STAIRCASE:
			/* half of the rows leave the others at each bit */
			return UINT64_MAX << (random_word(state) % 64) ^ (random_word(state) & 1);
		case KEYS_HEX:
			return random_string(state, "0123456789abcdef", 16, 8);
		case KEYS_NAMES:
			return random_string(state, "abcdefghijklmnopqrstuvwxyz", 26,
								 (unsigned) (random_word(state) % 9));
		default:
			return 0;			/* KEYS_ZERO */
	}
}

void
keys_fill(uint64_t *words, uint64_t count, key_shape shape, uint64_t seed)
{
	uint64_t	state = seed * 31 + (uint64_t) shape;

	for (uint64_t i = 0; i < count; i++)
	{
		if (shape >= KEYS_SORTED && shape <= KEYS_ORGAN_PIPE)
			words[i] = ordered_word(shape, i, count, &state);
		else
			words[i] = random_shaped(shape, i, &state);
	}
}
