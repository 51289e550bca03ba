/*
 * gs_engine.h
 *		The sort engine: columns of order-preserving words in, a permutation out.
 *
 * The engine knows nothing of PostgreSQL and nothing of CUDA.  It sorts on CPUs (host/gs_sort.h) or
 * on a group of devices (device/gs_device_sort.h); this file has what both take and return.
 *
 * A *plane* holds one 64-bit word per row of one sort column (or of one part of a wide column),
 * encoded so that unsigned comparison of the words is the order wanted: signs are flipped, and
 * descending columns complemented, before they get here.  Rows are numbered 0 .. nrows-1 in the
 * order of arrival; the number is the *row id*.
 *
 * The composite key of a row is the concatenation of its planes, most
 * significant first, after each plane has been reduced to the bits that vary:
 * the minimum is subtracted and only the bits of (maximum - minimum) are kept.
 * A plane in which nulls were seen has one more bit in front.  Cost follows
 * the number of bits that are left, not the number or the width of columns.
 */
#ifndef GS_ENGINE_H
#define GS_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum gs_status
{
	GS_OK = 0,
	GS_INVALID,					/* arguments contradict each other */
	GS_NO_SPACE,				/* workspace smaller than gs_sort_workspace_bytes() */
	GS_CANCELLED,				/* *cancel became nonzero; nothing was produced */
	GS_DEVICE_ERROR,			/* a device refused an operation; the next job may succeed */
	GS_DEVICE_LOST,				/* a device has failed for good */
	GS_DEVICE_WRONG				/* what devices returned is not the rows in order */
} gs_status;

/* Returns the status of a call from the calling function, unless it is GS_OK. */
#define GS_TRY(call) \
	do { \
		gs_status	try_status = (call); \
		if (try_status != GS_OK) \
			return try_status; \
	} while (0)

/* Most planes that one sort takes; more are GS_INVALID. */
#define GS_MAX_PLANES	256

/* Returns a sentence for the status, in constant storage. */
extern const char *gs_status_text(gs_status status);

typedef enum gs_null_order
{
	/* no null bit in the key, since an earlier plane tells which rows are null */
	GS_NULLS_NONE = 0,
	GS_NULLS_FIRST,
	GS_NULLS_LAST
} gs_null_order;

#define GS_WORD_BYTES	8
#define GS_BYTE_VALUES	256

/*
 * How words that are made of bytes are numbered, see gs_numbering.c: a word's number is the sum of
 * what its bytes stand for.  digits[0] is for the most significant byte.
 */
typedef struct gs_numbering
{
	uint64_t	digits[GS_WORD_BYTES][GS_BYTE_VALUES];
} gs_numbering;

typedef struct gs_plane
{
	const uint64_t *words;		/* nrows words; the words of null rows are ignored */
	/* bit (i & 63) of word (i >> 6) is set if row i is null; NULL: no row is */
	const uint64_t *nulls;
	gs_null_order null_order;	/* meaningful only if nulls is not NULL */
	/*
	 * NULL, or, if words are bytes of strings, room for the numbering that may make the key
	 * narrower
	 */
	gs_numbering *numbering;
} gs_plane;

#endif							/* GS_ENGINE_H */
