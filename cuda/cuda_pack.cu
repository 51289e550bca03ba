/*
 * cuda_pack.cu
 *		pack(): packs the first section of each row's key from the planes.
 *
 * A thread packs some rows at a time, piece by piece, so that the loads of a
 * piece are under way together.  The arithmetic is that of gs_pack.c.
 *
 * Pieces of one plane, its null flag and its bits, name the same pointers, so each list of pointers
 * is staged once.  The tables by which words are numbered, of 16 kB each, are staged once as well:
 * no section has two pieces of the same words.
 *
 * Keys may be written over the words that they are made of: a thread writes a row when it has read
 * all of it, and no other thread reads that row for a key.
 */
#include "gs_cuda_device.cuh"

#define PACK_THREADS	256u
#define PACK_ITEMS		8u
#define PACK_TILE		(PACK_THREADS * PACK_ITEMS)
#define BLOCKS_PER_SM	8u

/* Returns the first piece that has the same pointers as piece i; it may be i itself. */
static unsigned
first_with_words(const gs_plane_rows *planes, unsigned i)
{
	for (unsigned j = 0; j < i; j++)
		if (planes[j].words == planes[i].words)
			return j;
	return i;
}

static unsigned
first_with_nulls(const gs_plane_rows *planes, unsigned i)
{
	for (unsigned j = 0; j < i; j++)
		if (planes[j].nulls == planes[i].nulls)
			return j;
	return i;
}

size_t
gs_cuda_section_bytes(const gs_section *section, const gs_plane_rows *planes, uint64_t nsegments)
{
	size_t		bytes = gs_cuda_staged_bytes(section->npieces * sizeof(gs_cuda_piece));

	for (unsigned i = 0; i < section->npieces; i++)
	{
		if (first_with_words(planes, i) == i)
			bytes += gs_cuda_segments_bytes(planes[i].words, nsegments, GS_SEGMENT_ROWS);
		if (first_with_nulls(planes, i) == i)
			bytes += gs_cuda_segments_bytes(planes[i].nulls, nsegments, GS_SEGMENT_NULL_WORDS);
		if (section->pieces[i].field->numbering != nullptr)
			bytes += gs_cuda_staged_bytes(sizeof(gs_numbering));
	}
	return bytes;
}

static gs_cuda_piece
make_piece(const gs_piece *piece)
{
	const gs_field *field = piece->field;
	gs_cuda_piece made = {};

	made.min = field->min;
	made.mask = piece->mask;
	made.shift = field->shift + piece->shift;
	made.width = piece->width;
	made.is_null_flag = field->is_null_flag;
	made.nullable = field->nullable;
	made.flag_invert = field->flag_invert;
	return made;
}

gs_cuda_section
gs_cuda_stage_section(gs_cuda_staging *staging, const gs_section *section,
					  const gs_plane_rows *planes, uint64_t nsegments)
{
	gs_cuda_piece pieces[GS_SECTION_MAX_BITS];
	gs_cuda_section staged;

	for (unsigned i = 0; i < section->npieces; i++)
	{
		unsigned	words = first_with_words(planes, i);
		unsigned	nulls = first_with_nulls(planes, i);

		pieces[i] = make_piece(&section->pieces[i]);
		pieces[i].words = words < i ? pieces[words].words :
			gs_cuda_stage_segments(staging, planes[i].words, nsegments, GS_SEGMENT_ROWS);
		pieces[i].nulls = nulls < i ? pieces[nulls].nulls :
			gs_cuda_stage_segments(staging, planes[i].nulls, nsegments, GS_SEGMENT_NULL_WORDS);
		if (section->pieces[i].field->numbering != nullptr)
			pieces[i].numbering = (const gs_numbering *) gs_cuda_stage(
				staging, section->pieces[i].field->numbering, sizeof(gs_numbering));
	}
	staged.pieces = (const gs_cuda_piece *) gs_cuda_stage(staging, pieces,
														  section->npieces * sizeof(*pieces));
	staged.npieces = section->npieces;
	staged.width = section->width;
	return staged;
}

/* Appends a piece to the keys that a thread has in hand. */
static __device__ __forceinline__ void
append_piece(uint64_t *keys, const gs_cuda_piece &piece, const gs_cuda_tile &tile)
{
	const uint64_t *words = segment_memory(piece.words, tile.segment, GS_SEGMENT_ROWS);
	const uint64_t *nulls = segment_memory(piece.nulls, tile.segment, GS_SEGMENT_NULL_WORDS);
	uint64_t	bits[PACK_ITEMS];

#pragma unroll
	for (unsigned i = 0; i < PACK_ITEMS; i++)
	{
		unsigned	at = i * PACK_THREADS + threadIdx.x;

		bits[i] = piece_bits(piece, words, nulls, tile.first + (at < tile.count ? at : 0));
	}
#pragma unroll
	for (unsigned i = 0; i < PACK_ITEMS; i++)
		keys[i] = (piece.width == 64 ? 0 : keys[i] << piece.width) | bits[i];
}

static __global__ void __launch_bounds__(PACK_THREADS)
pack_rows(uint64_t nrows, uint64_t ntiles, gs_cuda_section section, gs_cuda_segments packed)
{
	for (uint64_t number = blockIdx.x; number < ntiles; number += gridDim.x)
	{
		gs_cuda_tile tile = find_tile<PACK_TILE>(number, nrows);
		uint64_t   *to = segment_memory(packed, tile.segment, GS_SEGMENT_ROWS) + tile.first;
		uint64_t	keys[PACK_ITEMS] = {};

		for (unsigned p = 0; p < section.npieces; p++)
			append_piece(keys, section.pieces[p], tile);
#pragma unroll
		for (unsigned i = 0; i < PACK_ITEMS; i++)
		{
			unsigned	at = i * PACK_THREADS + threadIdx.x;

			if (at < tile.count)
				to[at] = keys[i];
		}
	}
}

gs_status
gs_cuda_pack(gs_device *base, gs_queue queue, gs_rows rows, const gs_section *section,
			 const gs_plane_rows *planes, uint64_t *const *packed)
{
	gs_cuda_device *device = gs_cuda(base);
	uint64_t	nsegments = gs_rows_segments(rows);
	uint64_t	ntiles = count_tiles(rows.nrows, PACK_TILE);
	gs_cuda_staging staging;
	gs_cuda_section staged;
	gs_cuda_segments to;

	if (rows.nrows == 0)
		return GS_OK;
	GS_CUDA_ENTER(device);
	GS_CUDA_CHECK(gs_cuda_reserve(device, queue,
								  gs_cuda_section_bytes(section, planes, nsegments) +
									  gs_cuda_segments_bytes(packed, nsegments, GS_SEGMENT_ROWS),
								  &staging));
	staged = gs_cuda_stage_section(&staging, section, planes, nsegments);
	to = gs_cuda_stage_segments(&staging, packed, nsegments, GS_SEGMENT_ROWS);
	GS_CUDA_CHECK(gs_cuda_send(device, queue, &staging));
	pack_rows<<<gs_cuda_grid(device, ntiles, BLOCKS_PER_SM), PACK_THREADS, 0,
		device->streams[queue]>>>(rows.nrows, ntiles, staged, to);
	return gs_cuda_launched(device, "pack_rows");
}
