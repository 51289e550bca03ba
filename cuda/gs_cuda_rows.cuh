/*
 * gs_cuda_rows.cuh
 *		How kernels walk over rows: tiles, each within one segment.
 *
 * A tile is what a thread block works on at a time.  A segment is cut into full
 * tiles and a shorter last one; tiles are numbered in the order of rows.
 */
#ifndef GS_CUDA_ROWS_CUH
#define GS_CUDA_ROWS_CUH

#include "gs_cuda_table.cuh"

#define GS_WARP_THREADS	32u

/* Rows [first, first + count) of a segment. */
struct gs_cuda_tile
{
	uint64_t	segment;
	unsigned	first;
	unsigned	count;
};

static constexpr __host__ __device__ unsigned
tiles_per_segment(unsigned tile_rows)
{
	return (unsigned) ((GS_SEGMENT_ROWS + tile_rows - 1) / tile_rows);
}

static inline uint64_t
count_tiles(uint64_t nrows, unsigned tile_rows)
{
	uint64_t	rest = nrows % GS_SEGMENT_ROWS;

	return nrows / GS_SEGMENT_ROWS * tiles_per_segment(tile_rows) +
		(rest + tile_rows - 1) / tile_rows;
}

template <unsigned TILE_ROWS>
static __device__ __forceinline__ gs_cuda_tile
find_tile(uint64_t tile_number, uint64_t nrows)
{
	gs_cuda_tile tile;
	uint64_t	left;

	tile.segment = tile_number / tiles_per_segment(TILE_ROWS);
	tile.first = (unsigned) (tile_number % tiles_per_segment(TILE_ROWS)) * TILE_ROWS;
	left = nrows - tile.segment * GS_SEGMENT_ROWS;
	if (left > GS_SEGMENT_ROWS)
		left = GS_SEGMENT_ROWS;
	left -= tile.first;
	tile.count = left < TILE_ROWS ? (unsigned) left : TILE_ROWS;
	return tile;
}

static __device__ __forceinline__ bool
row_is_null(const uint64_t *nulls, unsigned row)
{
	return (nulls[row >> 6] >> (row & 63)) & 1;
}

/* Where keys are found, see gs_keys. */
struct gs_cuda_keys
{
	gs_cuda_segments words;
	uint64_t	min;
	unsigned	shift;
};

static __device__ __forceinline__ uint64_t
key_of(const gs_cuda_keys &keys, uint64_t word)
{
	return (word - keys.min) >> keys.shift;
}

#endif							/* GS_CUDA_ROWS_CUH */
