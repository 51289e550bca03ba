/*
 * gs_kernels_avx2.c
 *		The loops over all bytes, by AVX2 and carry-less multiplication.
 */
#include "parse/gs_kernels.h"

#ifdef GS_KERNELS_AVX2

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2,popcnt,pclmul"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,bmi,bmi2,popcnt,pclmul")
#endif

#include <immintrin.h>

#define GS_BLOCK_CLMUL
#include "parse/gs_block.h"

typedef struct bytes64
{
	__m256i		low;
	__m256i		high;
} bytes64;

GS_BLOCK_FUNCTION bytes64
load64(const char *data)
{
	return (bytes64) {
		_mm256_loadu_si256((const __m256i *) data),
		_mm256_loadu_si256((const __m256i *) (data + 32))
	};
}

GS_BLOCK_FUNCTION uint64_t
bits64(__m256i low, __m256i high)
{
	return (uint32_t) _mm256_movemask_epi8(low) |
		(uint64_t) (uint32_t) _mm256_movemask_epi8(high) << 32;
}

GS_BLOCK_FUNCTION uint64_t
equal64(bytes64 bytes, char byte)
{
	__m256i		wanted = _mm256_set1_epi8(byte);

	return bits64(_mm256_cmpeq_epi8(bytes.low, wanted), _mm256_cmpeq_epi8(bytes.high, wanted));
}

GS_BLOCK_FUNCTION uint64_t
high64(bytes64 bytes)
{
	return bits64(bytes.low, bytes.high);
}

#define KERNELS gs_kernels_avx2
#include "parse/gs_kernels_body.h"

#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif							/* GS_KERNELS_AVX2 */
