/*
 * key_inverse.h
 *		Values back out of the words that codecs have made of them.
 *
 * Of some codecs a word tells the value that it was made of, bit by bit, and a sort that returns
 * nothing but such values need not keep them.  All of these are of types passed by value.
 *
 * Floats that are equal may differ: -0 and 0, and numbers that are none.  The words of the codecs
 * named `distinct` tell them apart, and order those that are equal among each other somehow.  They
 * serve as the last sort column, where any order of equal ones is right.
 */
#ifndef GPUSORT_KEY_INVERSE_H
#define GPUSORT_KEY_INVERSE_H

#include "keys/key_codec.h"

/*
 * The bits of a float of sign and magnitude as an unsigned integer of the same order.  The least
 * of these are numbers that are none and have a sign: they follow all others, as they do for
 * PostgreSQL, when infinity's is subtracted.
 */
#define GPUSORT_FLOAT8_LEAST	UINT64CONST(0x000FFFFFFFFFFFFF)	/* -Infinity */
#define GPUSORT_FLOAT4_LEAST	UINT64CONST(0x007FFFFF)

static inline uint64
gpusort_word_of_float8_bits(uint64 bits)
{
	bits ^= (uint64) ((int64) bits >> 63) | (UINT64CONST(1) << 63);
	return bits - GPUSORT_FLOAT8_LEAST;
}

static inline uint64
gpusort_float8_bits_of_word(uint64 word)
{
	word += GPUSORT_FLOAT8_LEAST;
	return word ^ ((uint64) ((int64) ~word >> 63) | (UINT64CONST(1) << 63));
}

static inline uint64
gpusort_word_of_float4_bits(uint32 bits)
{
	bits ^= (uint32) ((int32) bits >> 31) | (UINT32_C(1) << 31);
	return (uint32) (bits - GPUSORT_FLOAT4_LEAST);
}

static inline uint64
gpusort_float4_bits_of_word(uint64 word)
{
	uint32		bits = (uint32) (word + GPUSORT_FLOAT4_LEAST);

	return bits ^ ((uint32) ((int32) ~bits >> 31) | (UINT32_C(1) << 31));
}

/* The value, in as many of the low bytes as its type has. */
static inline uint64
gpusort_value_of_word(GpuSortInverse inverse, uint64 word)
{
	switch (inverse)
	{
		case GPUSORT_INVERSE_SIGNED:
			return word ^ (UINT64CONST(1) << 63);
		case GPUSORT_INVERSE_FLOAT4:
			return gpusort_float4_bits_of_word(word);
		case GPUSORT_INVERSE_FLOAT8:
			return gpusort_float8_bits_of_word(word);
		default:
			return word;
	}
}

#endif							/* GPUSORT_KEY_INVERSE_H */
