/*
 * gs_kernels.c
 *		The loops over all bytes, for the instructions that the processor has.
 *
 * Both kinds are compiled from gs_kernels_body.h.
 */
#include "parse/gs_kernels.h"

const gs_kernels *
gs_kernels_choose(void)
{
#ifdef GS_KERNELS_AVX2
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
		__builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt") &&
		__builtin_cpu_supports("pclmul"))
		return &gs_kernels_avx2;
#endif
	return &gs_kernels_portable;
}
