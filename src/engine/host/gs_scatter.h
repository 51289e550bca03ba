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

/* The widest digit, and the memory that it takes: 144 kB with 2^11 buckets. */
#define GS_SCATTER_MAX_BITS	11

typedef struct gs_line
{
	uint64_t	items[GS_LINE_ITEMS];
} gs_line;

/* Each bucket's last line, and where it goes: arrays of 2^bits elements. */
typedef struct gs_scatter
{
	gs_line    *lines;
	uint64_t   *begins;			/* position of a bucket's first item of this call */
	uint64_t   *ends;			/* ... and behind its last one */
} gs_scatter;

extern size_t gs_scatter_bytes(unsigned bits);

/* Have the arrays in this memory, which is aligned to a line. */
extern void gs_scatter_make(gs_scatter *scatter, void *memory, unsigned bits);

/* Begin with buckets whose next items go to these positions. */
extern void gs_scatter_begin(gs_scatter *scatter, const uint64_t *positions, unsigned bits);

/* Distribute items to `to` by so many bits from the shift up; to is aligned to a line. */
extern void gs_scatter_items(gs_scatter *scatter, uint64_t *to, const uint64_t *items,
							 uint64_t count, unsigned shift, unsigned bits);

/* Write what is left in lines. */
extern void gs_scatter_end(gs_scatter *scatter, uint64_t *to, unsigned bits);

/*
 * The same as memcpy() of whole lines, for what nobody is going to read soon.  Others see it only after
 * gs_stream_end(), whatever else they wait for.
 */
extern void gs_stream_lines(uint64_t *to, const uint64_t *from, size_t lines);
extern void gs_stream_end(void);

#endif							/* GS_SCATTER_H */
