/*
 * gs_block.h
 *		64 bytes of delimited text as a bit each: which of them are not data.
 *
 * This file is read by the compilers of the host and of the device.
 */
#ifndef GS_BLOCK_H
#define GS_BLOCK_H

#include "parse/gs_dialect.h"

#ifdef __CUDACC__
#define GS_BLOCK_FUNCTION	static __host__ __device__ __forceinline__
#else
#define GS_BLOCK_FUNCTION	static inline __attribute__((always_inline))
#endif

#define GS_BLOCK_BYTES	64

/* The kinds of dialects, by the way in which one state follows another. */
typedef enum gs_syntax
{
	GS_SYNTAX_TEXT,
	GS_SYNTAX_CSV,				/* the escape is the quote: each quote toggles */
	GS_SYNTAX_CSV_ESCAPE
} gs_syntax;

static inline gs_syntax
gs_dialect_syntax(const gs_dialect *dialect)
{
	if (!dialect->csv)
		return GS_SYNTAX_TEXT;
	return dialect->escape == dialect->quote ? GS_SYNTAX_CSV : GS_SYNTAX_CSV_ESCAPE;
}

/*
 * Where a block has the bytes that change states.  Bits of bytes beyond the end of a short block
 * are 0.
 */
typedef struct gs_block
{
	uint64_t	quote;			/* the quotes of CSV */
	uint64_t	escape;			/* text: backslashes; CSV: escapes, unless they are the quote */
} gs_block;

/*
 * Returns a word whose bit i tells whether an odd number of bits is set up to and including bit i.
 * A file that is compiled for processors with carry-less multiplication defines GS_BLOCK_CLMUL.
 */
GS_BLOCK_FUNCTION uint64_t
gs_prefix_parity(uint64_t bits)
{
#ifdef GS_BLOCK_CLMUL
	return (uint64_t) _mm_cvtsi128_si64(_mm_clmulepi64_si128(_mm_cvtsi64_si128((long long) bits),
															 _mm_set1_epi8((char) 0xff), 0));
#else
	bits ^= bits << 1;
	bits ^= bits << 2;
	bits ^= bits << 4;
	bits ^= bits << 8;
	bits ^= bits << 16;
	bits ^= bits << 32;
	return bits;
#endif
}

/* Returns the number of the lowest bit that is set; there is one. */
GS_BLOCK_FUNCTION unsigned
gs_lowest_bit(uint64_t bits)
{
#ifdef __CUDA_ARCH__
	return (unsigned) __ffsll((long long) bits) - 1;
#else
	return (unsigned) __builtin_ctzll(bits);
#endif
}

GS_BLOCK_FUNCTION unsigned
gs_count_bits(uint64_t bits)
{
#ifdef __CUDA_ARCH__
	return (unsigned) __popcll(bits);
#else
	return (unsigned) __builtin_popcountll(bits);
#endif
}

/* Returns a word with the n lowest bits set; all with 64 or more. */
GS_BLOCK_FUNCTION uint64_t
gs_low_bits(unsigned n)
{
	return n >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << n) - 1;
}

/*
 * Returns the bytes that follow a backslash which is not itself escaped.  In a run of backslashes
 * every second one escapes; where a run begins is found by the carries of a subtraction (Keiser,
 * Lemire, "Parsing gigabytes of JSON per second", 3.1.1, in the form of simdjson 2).  *escaping is
 * set to the backslashes that escape.
 */
GS_BLOCK_FUNCTION uint64_t
gs_escaped_bytes(uint64_t backslashes, bool first_is_escaped, uint64_t *escaping)
{
	const uint64_t odd_bits = UINT64_C(0xaaaaaaaaaaaaaaaa);
	uint64_t	first = first_is_escaped;
	uint64_t	candidates = backslashes & ~first;
	uint64_t	codes = (((candidates << 1) | odd_bits) - candidates) ^ odd_bits;

	*escaping = codes & backslashes;
	return codes ^ (backslashes | first);
}

/* Returns the plain bytes of a block of CSV in which quotes toggle; see gs_block_plain(). */
GS_BLOCK_FUNCTION uint64_t
gs_plain_between_quotes(uint64_t quotes, gs_parse_state *state)
{
	uint64_t	plain = ~gs_prefix_parity(quotes);

	if (*state == GS_STATE_QUOTED)
		plain = ~plain;
	*state = plain >> 63 ? GS_STATE_PLAIN : GS_STATE_QUOTED;
	return plain;
}

/*
 * Returns the plain bytes of a block of CSV whose escape is not the quote; see gs_block_plain().
 * Escapes mean something between quotes only, so that no arithmetic finds them: the loop goes from
 * one quote or escape to the next.
 */
GS_BLOCK_FUNCTION uint64_t
gs_plain_between_escapes(const gs_block *block, unsigned bytes, gs_parse_state *state)
{
	uint64_t	plain = 0;
	unsigned	at = 0;
	gs_parse_state now = *state;

	if (now == GS_STATE_ESCAPED && bytes > 0)
	{
		now = GS_STATE_QUOTED;
		at = 1;
	}
	while (now != GS_STATE_ESCAPED)
	{
		uint64_t	ahead = ~gs_low_bits(at);
		uint64_t	changes = (block->quote | (now == GS_STATE_PLAIN ? 0 : block->escape)) & ahead;
		unsigned	next = changes != 0 ? gs_lowest_bit(changes) : 64;

		if (now == GS_STATE_PLAIN)
			plain |= ahead & gs_low_bits(next);
		if (changes == 0)
			break;
		at = next + 1;
		if (now == GS_STATE_PLAIN)
			now = GS_STATE_QUOTED;
		else if ((block->quote >> next) & 1)
			now = GS_STATE_PLAIN;
		else if (at < bytes)
			at++;
		else
			now = GS_STATE_ESCAPED;
	}
	*state = now;
	return plain;
}

/*
 * Returns the plain bytes of a block: those that stand in GS_STATE_PLAIN (quotes may count as
 * either).  The first byte stands in *state, which becomes the state after the last one.
 */
GS_BLOCK_FUNCTION uint64_t
gs_block_plain(gs_syntax syntax, const gs_block *block, unsigned bytes, gs_parse_state *state)
{
	if (syntax == GS_SYNTAX_TEXT)
	{
		uint64_t	escaping;
		uint64_t	escaped = gs_escaped_bytes(block->escape, *state == GS_STATE_ESCAPED,
											   &escaping);
		bool		last_escapes = bytes < 64 ? (escaped >> bytes) & 1 : escaping >> 63;

		*state = last_escapes ? GS_STATE_ESCAPED : GS_STATE_PLAIN;
		return ~escaped;
	}
	if (syntax == GS_SYNTAX_CSV_ESCAPE && (block->escape != 0 || *state == GS_STATE_ESCAPED))
		return gs_plain_between_escapes(block, bytes, state);
	return gs_plain_between_quotes(block->quote, state);
}

#endif							/* GS_BLOCK_H */
