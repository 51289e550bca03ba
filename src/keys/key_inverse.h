/*
 * key_inverse.h
 *		Turns words back into the values that codecs have made them of.
 *
 * The words of some codecs tell the value, bit by bit, and a sort that returns nothing but such
 * values need not keep them beside the words.  All such values are of types passed by value.
 *
 * Floats that compare as equal may have different bits: -0 and 0, and the many NaNs.  The codecs
 * that others name as `distinct` give these different words, in an order of no meaning.  So they
 * can encode only the last sort column, where any order of equal values is right.
 */
#ifndef GPUSORT_KEY_INVERSE_H
#define GPUSORT_KEY_INVERSE_H

#include "keys/key_codec.h"

/*
 * The functions below turn the bits of a float, a sign and a magnitude, into an unsigned integer of
 * the same order.  NaNs with a sign would come first that way.  Since -Infinity's integer is
 * subtracted, theirs wrap around and follow all others, as NaNs do for PostgreSQL.
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

/* Returns the value that a word was made of, in the low bytes, as many as its type has. */
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
