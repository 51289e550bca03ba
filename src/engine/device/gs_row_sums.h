/*
 * gs_row_sums.h
 *		Sums that tell whether rows are the same ones, whatever their order.
 *
 * A row adds a hash of its id to one sum, and a hash of its key and id to another.  The hash of an
 * id is a one-to-one function of it, so that one row in the place of another always shows; other
 * changes go unnoticed once in 2^64.  There is no reason to choose rows so that changes go
 * unnoticed: a process that could has the rows anyway.
 *
 * This file is read by the compilers of the host and of the device.
 */
#ifndef GS_ROW_SUMS_H
#define GS_ROW_SUMS_H

#include <stdint.h>

#ifdef __CUDACC__
#define GS_ROW_FUNCTION	static __host__ __device__ __forceinline__
#else
#define GS_ROW_FUNCTION	static inline
#endif

/* Sums over some rows, modulo 2^64. */
typedef struct gs_row_sums
{
	uint64_t	ids;
	uint64_t	pairs;
} gs_row_sums;

/*
 * Returns the hash of an id.  It is one-to-one: its factors are odd, and its shifts can be undone.
 */
GS_ROW_FUNCTION uint64_t
gs_mixed_id(uint64_t id)
{
	id = (id + 1) * UINT64_C(0x9e3779b97f4a7c15);
	id ^= id >> 32;
	id *= UINT64_C(0xbf58476d1ce4e5b9);
	return id ^ id >> 29;
}

GS_ROW_FUNCTION uint64_t
gs_mixed_pair(uint64_t key, uint64_t mixed_id)
{
	uint64_t	pair = (key + mixed_id) * UINT64_C(0x94d049bb133111eb);

	pair ^= pair >> 32;
	pair *= UINT64_C(0xff51afd7ed558ccd);
	return pair ^ pair >> 29;
}

GS_ROW_FUNCTION void
gs_sum_row(gs_row_sums *sums, uint64_t key, uint64_t id)
{
	uint64_t	mixed_id = gs_mixed_id(id);

	sums->ids += mixed_id;
	sums->pairs += gs_mixed_pair(key, mixed_id);
}

#endif							/* GS_ROW_SUMS_H */
