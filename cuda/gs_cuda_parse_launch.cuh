/*
 * gs_cuda_parse_launch.cuh
 *		The launches that find the records and fields of some bytes.
 *
 * Every part takes the same launches, whatever is in it, and nothing waits for the device between
 * them.
 */
#ifndef GS_CUDA_PARSE_LAUNCH_CUH
#define GS_CUDA_PARSE_LAUNCH_CUH

#include <cub/device/device_scan.cuh>
#include <cuda_runtime.h>

#include "gs_cuda_parse_kernels.cuh"

/* The largest elements that the scan has. */
typedef parse_total<3> widest_total;

/*
 * What launches need beside the bytes; totals and sums have an element for each tile, and one more.
 */
struct parse_launch
{
	parse_bytes meaning;
	cudaStream_t stream;
	widest_total *totals;
	widest_total *sums;
	void	   *temp;
	size_t		temp_bytes;
};

static size_t
tiles_of(size_t bytes)
{
	return (bytes + PARSE_TILE_BYTES - 1) / PARSE_TILE_BYTES;
}

static uint32_t
four_times(char byte)
{
	return 0x01010101u * (unsigned char) byte;
}

static parse_bytes
meaning_of(const gs_dialect *dialect)
{
	return (parse_bytes) {
		four_times(dialect->delimiter), four_times(dialect->quote),
		four_times(gs_escape_byte(dialect)),
		dialect->newline == GS_NEWLINE_CR, dialect->newline == GS_NEWLINE_CRLF,
		dialect->csv && dialect->csv_end_marker
	};
}

template <int STATES>
static cudaError_t
scan_totals(void *temp, size_t *temp_bytes, const parse_total<STATES> *totals,
			parse_total<STATES> *sums, size_t count, cudaStream_t stream)
{
	return cub::DeviceScan::ExclusiveScan(temp, *temp_bytes, totals, sums, parse_join_totals(),
										  parse_total<STATES>::none(), (int) count, stream);
}

/* Sets *bytes to the temporary memory that a scan of so many elements needs. */
static cudaError_t
scan_temp_bytes(size_t count, size_t *bytes)
{
	size_t		of_two = 0;
	cudaError_t error = scan_totals<3>(nullptr, bytes, nullptr, nullptr, count, nullptr);

	if (error == cudaSuccess)
		error = scan_totals<2>(nullptr, &of_two, nullptr, nullptr, count, nullptr);
	if (of_two > *bytes)
		*bytes = of_two;
	return error;
}

template <gs_syntax SYNTAX>
static cudaError_t
launch_kernels(const parse_launch &launch, const uint4 *data, size_t bytes,
			   const parse_carry *before, const parse_output &out)
{
	typedef parse_total<parse_states<SYNTAX>::count> total;
	unsigned	tiles = (unsigned) tiles_of(bytes);
	total	   *totals = reinterpret_cast<total *>(launch.totals);
	total	   *sums = reinterpret_cast<total *>(launch.sums);
	size_t		temp_bytes = launch.temp_bytes;
	cudaError_t error;

	sum_tiles<SYNTAX><<<tiles, PARSE_THREADS, 0, launch.stream>>>(launch.meaning, data, bytes,
																  totals);
	error = cudaGetLastError();
	if (error == cudaSuccess)
		error = scan_totals(launch.temp, &temp_bytes, totals, sums, tiles + 1, launch.stream);
	if (error != cudaSuccess)
		return error;
	write_tiles<SYNTAX><<<tiles, PARSE_THREADS, 0, launch.stream>>>(launch.meaning, data, bytes,
																	sums, before, out);
	return cudaGetLastError();
}

/* Launches all kernels for some bytes, which lie on the device at a multiple of 16. */
static cudaError_t
launch_parse(const parse_launch &launch, gs_syntax syntax, const void *data, size_t bytes,
			 const parse_carry *before, const parse_output &out)
{
	const uint4 *vectors = static_cast<const uint4 *>(data);

	switch (syntax)
	{
		case GS_SYNTAX_TEXT:
			return launch_kernels<GS_SYNTAX_TEXT>(launch, vectors, bytes, before, out);
		case GS_SYNTAX_CSV:
			return launch_kernels<GS_SYNTAX_CSV>(launch, vectors, bytes, before, out);
		default:
			return launch_kernels<GS_SYNTAX_CSV_ESCAPE>(launch, vectors, bytes, before, out);
	}
}

#endif							/* GS_CUDA_PARSE_LAUNCH_CUH */
