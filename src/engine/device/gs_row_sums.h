/*
 * gs_row_sums.h
 *		Sums by which rows are known to be the same ones, whatever their order.
 *
 * A row adds a hash of its id to one sum, and a hash of its key and id to another.
 * The hash of an id is a one-to-one function of it, so that one row in the place of
 * another always shows; other changes go unnoticed once in 2^64.  Nobody chooses
 * rows so that they do: who can has the rows anyway.
 *
 * For the compilers of the host and of the device.
 */
#ifndef GS_ROW_SUMS_H
#define GS_ROW_SUMS_H

#include <stdint.h>

#ifdef __CUDACC__
#define GS_ROW_FUNCTION	static __host__ __device__ __forceinline__
#else
#define GS_ROW_FUNCTION	static inline
#endif

/* Modulo 2^64, over some rows. */
typedef struct gs_row_sums
{
	uint64_t	ids;
	uint64_t	pairs;
} gs_row_sums;

/* One-to-one: odd factors, and shifts that can be undone. */
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
