/*
 * gs_kernels_portable.c
 *		The loops over all bytes, eight or sixteen at a time.
 */
#include <string.h>

#include "parse/gs_block.h"

#if defined(__SSE2__) && !defined(GS_PARSE_WORDS)
#include <emmintrin.h>

typedef struct bytes64
{
	__m128i		of[4];
} bytes64;

GS_BLOCK_FUNCTION bytes64
load64(const char *data)
{
	const __m128i *from = (const __m128i *) data;

	return (bytes64) {
		{_mm_loadu_si128(from), _mm_loadu_si128(from + 1), _mm_loadu_si128(from + 2),
		_mm_loadu_si128(from + 3)}
	};
}

GS_BLOCK_FUNCTION uint64_t
bits16(__m128i bytes)
{
	return (uint16_t) _mm_movemask_epi8(bytes);
}

GS_BLOCK_FUNCTION uint64_t
equal64(bytes64 bytes, char byte)
{
	__m128i		wanted = _mm_set1_epi8(byte);

	return bits16(_mm_cmpeq_epi8(bytes.of[0], wanted)) |
		bits16(_mm_cmpeq_epi8(bytes.of[1], wanted)) << 16 |
		bits16(_mm_cmpeq_epi8(bytes.of[2], wanted)) << 32 |
		bits16(_mm_cmpeq_epi8(bytes.of[3], wanted)) << 48;
}

GS_BLOCK_FUNCTION uint64_t
high64(bytes64 bytes)
{
	return bits16(bytes.of[0]) | bits16(bytes.of[1]) << 16 | bits16(bytes.of[2]) << 32 |
		bits16(bytes.of[3]) << 48;
}

#else

#define LOW_BITS	UINT64_C(0x7f7f7f7f7f7f7f7f)
#define ONES		UINT64_C(0x0101010101010101)

typedef struct bytes64
{
	uint64_t	of[8];			/* the first byte is the lowest one */
} bytes64;

GS_BLOCK_FUNCTION bytes64
load64(const char *data)
{
	bytes64		bytes;

	memcpy(&bytes, data, sizeof(bytes));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	for (int i = 0; i < 8; i++)
		bytes.of[i] = __builtin_bswap64(bytes.of[i]);
#endif
	return bytes;
}

/* Returns the highest bits of eight bytes. */
GS_BLOCK_FUNCTION uint64_t
high8(uint64_t bytes)
{
	return (((bytes & ~LOW_BITS) >> 7) * UINT64_C(0x0102040810204080)) >> 56;
}

GS_BLOCK_FUNCTION uint64_t
high64(bytes64 bytes)
{
	uint64_t	bits = 0;

	for (int i = 0; i < 8; i++)
		bits |= high8(bytes.of[i]) << (8 * i);
	return bits;
}

GS_BLOCK_FUNCTION uint64_t
equal64(bytes64 bytes, char byte)
{
	uint64_t	wanted = ONES * (unsigned char) byte;
	uint64_t	bits = 0;

	for (int i = 0; i < 8; i++)
	{
		uint64_t	differ = bytes.of[i] ^ wanted;

		bits |= high8(~(((differ & LOW_BITS) + LOW_BITS) | differ)) << (8 * i);
	}
	return bits;
}

#endif

#define KERNELS gs_kernels_portable
#include "parse/gs_kernels_body.h"
