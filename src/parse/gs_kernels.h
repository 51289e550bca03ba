/*
 * gs_kernels.h
 *		The loops over all bytes, for the instructions that the processor has.
 */
#ifndef GS_KERNELS_H
#define GS_KERNELS_H

#include "parse/gs_parse.h"

/* Whether the loops are compiled for AVX2, too.  Tests do without, to test the other ones. */
#if defined(__x86_64__) && !defined(GS_PARSE_PORTABLE)
#define GS_KERNELS_AVX2
#endif

/* What a piece of a chunk, of some kB, does from one state. */
typedef struct gs_piece
{
	gs_parse_state end;
	uint32_t	records;		/* bytes that end records */
	uint32_t	lines;			/* bytes between quotes that the server counts as lines */
	uint32_t	record_bytes;	/* the same bytes, in whatever state they stand */
	uint32_t	line_bytes;
	bool		ascii;
} gs_piece;

/* Most bytes of a piece, so that it is read from the nearest cache a second time. */
#define GS_PIECE_BYTES	16384

typedef struct gs_kernels
{
	void		(*count) (const gs_dialect *dialect, const char *data, size_t bytes,
						  gs_parse_state state, gs_piece *piece);

	/*
	 * does what gs_records_find() does, but for a record without a newline at the end; *open is the
	 * state there
	 */
	void		(*find) (const gs_dialect *dialect, const char *data, size_t bytes, bool at_end,
						 gs_records *records, gs_parse_state *open);

	/* returns how many of these bytes are equal to "byte" */
	uint64_t	(*count_equal) (const char *data, size_t bytes, char byte);
} gs_kernels;

extern const gs_kernels gs_kernels_avx2;
extern const gs_kernels gs_kernels_portable;

extern const gs_kernels *gs_kernels_choose(void);

#endif							/* GS_KERNELS_H */
