/*
 * gs_scatter.h
 *		Distributing items over many buckets that lie all over memory.
 */
#ifndef GS_SCATTER_H
#define GS_SCATTER_H

#include <stddef.h>
#include <stdint.h>

#include "engine/host/gs_workspace.h"

#define GS_LINE_ITEMS	(GS_LINE_BYTES / sizeof(uint64_t))

/* The widest digit that items are distributed by: the 2^11 buckets take 144 kB. */
#define GS_SCATTER_MAX_BITS	11

typedef struct gs_line
{
	uint64_t	items[GS_LINE_ITEMS];
} gs_line;

/* Each bucket's line that is not full yet, and where it goes: arrays of 2^bits elements. */
typedef struct gs_scatter
{
	gs_line    *lines;
	uint64_t   *begins;			/* position of a bucket's first item of this call */
	uint64_t   *ends;			/* position behind the last item of this call */
} gs_scatter;

extern size_t gs_scatter_bytes(unsigned bits);

/* Makes the arrays in this memory, which is aligned to a line and has gs_scatter_bytes(bits). */
extern void gs_scatter_make(gs_scatter *scatter, void *memory, unsigned bits);

/* Begins with buckets whose next items go to these positions. */
extern void gs_scatter_begin(gs_scatter *scatter, const uint64_t *positions, unsigned bits);

/*
 * Distributes items over the buckets in `to`, by so many bits from `shift` up; `to` is aligned to a
 * line.
 */
extern void gs_scatter_items(gs_scatter *scatter, uint64_t *to, const uint64_t *items,
							 uint64_t count, unsigned shift, unsigned bits);

/* Writes the items that are left in lines. */
extern void gs_scatter_end(gs_scatter *scatter, uint64_t *to, unsigned bits);

/*
 * gs_stream_lines() does the same as memcpy() of whole lines, for memory that is not going to be
 * read soon.  Other participants may see the lines only after gs_stream_end(), whatever else they
 * wait for.
 */
extern void gs_stream_lines(uint64_t *to, const uint64_t *from, size_t lines);
extern void gs_stream_end(void);

#endif							/* GS_SCATTER_H */
