/*
 * gs_cuda_section.cuh
 *		How kernels read the bits of a section out of planes.
 */
#ifndef GS_CUDA_SECTION_CUH
#define GS_CUDA_SECTION_CUH

#include "gs_cuda_rows.cuh"

/* What a kernel needs of a gs_piece. */
struct gs_cuda_piece
{
	gs_cuda_segments words;
	gs_cuda_segments nulls;
	const gs_numbering *numbering;	/* device memory; NULL: words are taken as they are */
	uint64_t	min;
	uint64_t	mask;
	unsigned	shift;			/* how far a word is shifted down to the piece */
	unsigned	width;
	bool		is_null_flag;
	bool		nullable;
	uint64_t	flag_invert;
};

/* A section's pieces, in device memory. */
struct gs_cuda_section
{
	const gs_cuda_piece *pieces;
	unsigned	npieces;
	unsigned	width;
};

/*
 * Returns the bits of a piece of one row of a segment.  The table of a numbering is small enough
 * for the first-level cache.
 */
static __device__ __forceinline__ uint64_t
piece_bits(const gs_cuda_piece &piece, const uint64_t *words, const uint64_t *nulls, unsigned row)
{
	uint64_t	word;

	if (piece.is_null_flag)
		return (row_is_null(nulls, row) ? 1 : 0) ^ piece.flag_invert;
	if (piece.nullable && row_is_null(nulls, row))
		return 0;
	word = words[row];
	if (piece.numbering != nullptr)
		word = gs_number(piece.numbering, word);
	return ((word - piece.min) >> piece.shift) & piece.mask;
}

/*
 * gs_cuda_section_bytes() returns the bytes to reserve for a section, and gs_cuda_stage_section()
 * stages it for a kernel.  planes[i] belongs to section->pieces[i].
 */
extern size_t gs_cuda_section_bytes(const gs_section *section, const gs_plane_rows *planes,
									uint64_t nsegments);
extern gs_cuda_section gs_cuda_stage_section(gs_cuda_staging *staging, const gs_section *section,
											 const gs_plane_rows *planes, uint64_t nsegments);

#endif							/* GS_CUDA_SECTION_CUH */
