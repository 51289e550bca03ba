/*
 * gs_bits.h
 *		Counting bits, and looking at the cancel flag.
 */
#ifndef GS_BITS_H
#define GS_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns how many bits are needed to write x: 0 for 0. */
static inline unsigned
gs_bit_width(uint64_t x)
{
	return x == 0 ? 0 : 64 - (unsigned) __builtin_clzll(x);
}

/* Returns how many low bits of x are 0; x is not 0. */
static inline unsigned
gs_trailing_zeros(uint64_t x)
{
	return (unsigned) __builtin_ctzll(x);
}

static inline unsigned
gs_popcount(uint64_t x)
{
	return (unsigned) __builtin_popcountll(x);
}

/* Returns a word whose lowest `bits` bits are set; bits is 0 .. 64. */
static inline uint64_t
gs_low_mask(unsigned bits)
{
	return bits == 0 ? 0 : UINT64_MAX >> (64 - bits);
}

static inline bool
gs_cancelled(const volatile int *cancel)
{
	return cancel != NULL && *cancel != 0;
}

#endif							/* GS_BITS_H */
