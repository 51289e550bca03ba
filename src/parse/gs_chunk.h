/*
 * gs_chunk.h
 *		What a chunk of the input does, whatever comes before it.
 */
#ifndef GS_CHUNK_H
#define GS_CHUNK_H

#include "parse/gs_dialect.h"

/* What a chunk does if its first byte stands in one of the states. */
typedef struct gs_chunk_from
{
	gs_parse_state end;			/* the state after its last byte */
	uint64_t	records;		/* records that end in it */
	uint64_t	lines;			/* lines that end in it: records, and newlines between quotes */
	uint64_t	first;			/* where the first record ends: the offset after its newline */
	uint64_t	last;			/* where the last one ends; both are 0 if none ends */
} gs_chunk_from;

typedef struct gs_chunk
{
	uint64_t	bytes;
	bool		ascii;			/* no byte has its highest bit set */
	gs_chunk_from from[GS_STATES];
} gs_chunk;

/*
 * Reads a chunk from all states at once.  It may begin and end at any byte.  Only counts bytes:
 * what is odd in the chunk (gs_records.h) is found when its records are.
 */
extern void gs_chunk_scan(const gs_dialect *dialect, const char *data, size_t bytes,
						  gs_chunk *chunk);

/* Returns the chunk of no bytes. */
extern gs_chunk gs_chunk_empty(void);

/*
 * Appends "right" to "left", as if both had been scanned as one chunk.  That is associative, so
 * chunks may be joined in any grouping.
 */
extern void gs_chunk_join(gs_chunk *left, const gs_chunk *right);

#endif							/* GS_CHUNK_H */
