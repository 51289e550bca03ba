/*
 * gs_numbering.h
 *		Words made of bytes, as numbers of mixed radix; see gs_numbering.c.
 *
 * This file is read by the compilers of the host and of the device.
 */
#ifndef GS_NUMBERING_H
#define GS_NUMBERING_H

#include "engine/gs_layout.h"

#ifdef __CUDACC__
#define GS_WORD_FUNCTION	static __host__ __device__ __forceinline__
#else
#define GS_WORD_FUNCTION	static inline
#endif

/* With fewer rows a table of numbers costs more time than it saves. */
#define GS_NUMBERING_MIN_ROWS	4096

/*
 * Which bytes occur at each position of the words of a plane's non-null rows, a bit each; position
 * 0 is the most significant byte.  All zeros at first: no words were looked at.
 */
typedef struct gs_alphabets
{
	uint64_t	seen[GS_WORD_BYTES][GS_BYTE_VALUES / 64];
} gs_alphabets;

extern void gs_alphabets_fold(gs_alphabets *alphabets, const gs_plane *plane, uint64_t begin,
							  uint64_t end);

/*
 * Makes the numbering of words with these statistics and alphabets; returns false if that saves too
 * little.
 */
extern bool gs_numbering_make(gs_numbering *numbering, const gs_plane_stats *stats,
							  const gs_alphabets *alphabets);

/* Returns the byte at a position of a word. */
GS_WORD_FUNCTION unsigned
gs_byte_at(uint64_t word, unsigned position)
{
	return (unsigned) (word >> (8 * (GS_WORD_BYTES - 1 - position))) & (GS_BYTE_VALUES - 1);
}

/*
 * Returns a word's number.  A word with other bytes than those of the alphabets gets some number.
 */
GS_WORD_FUNCTION uint64_t
gs_number(const gs_numbering *numbering, uint64_t word)
{
	const uint64_t (*digits)[GS_BYTE_VALUES] = numbering->digits;

	return digits[0][gs_byte_at(word, 0)] + digits[1][gs_byte_at(word, 1)] +
		digits[2][gs_byte_at(word, 2)] + digits[3][gs_byte_at(word, 3)] +
		digits[4][gs_byte_at(word, 4)] + digits[5][gs_byte_at(word, 5)] +
		digits[6][gs_byte_at(word, 6)] + digits[7][gs_byte_at(word, 7)];
}

#endif							/* GS_NUMBERING_H */
