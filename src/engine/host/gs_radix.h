/*
 * gs_radix.h
 *		Least-significant-digit radix sort of items.
 */
#ifndef GS_RADIX_H
#define GS_RADIX_H

#include "engine/host/gs_job.h"

/* How the section's bits of an item are cut into digits of one width. */
typedef struct gs_digits
{
	unsigned	count;			/* 0 .. GS_MAX_DIGITS */
	unsigned	width;
	unsigned	low_bit;		/* lowest bit of the least significant digit */
} gs_digits;

extern unsigned gs_radix_bits(uint64_t rows, unsigned available);
extern gs_digits gs_radix_digits(uint64_t rows, unsigned low_bit, unsigned bits);
extern void gs_radix_clear(gs_job *job, gs_digits digits);
extern void gs_radix_count(gs_job *job, gs_digits digits, const uint64_t *items, uint64_t count);
extern uint64_t *gs_radix_partition(gs_job *job, gs_digits digits, uint64_t *items,
									uint64_t *spare, uint64_t count);

#endif							/* GS_RADIX_H */
