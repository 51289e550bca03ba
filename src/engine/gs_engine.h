/*
 * gs_engine.h
 *		The sort engine: columns of order-preserving words in, a permutation out.
 *
 * The engine knows nothing of PostgreSQL and nothing of CUDA.  It is plain C11
 * without globals, it never allocates, and it never calls back: the caller
 * hands it memory, and gets back a status.  How far a sort has come can be seen in
 * a word of the caller's that it raises.
 *
 * A *plane* holds one 64-bit word per row of one sort column (or of one part
 * of a wide column), encoded so that unsigned comparison of the words is the
 * order wanted: signs are flipped, descending columns complemented, before
 * they get here.  Rows are numbered 0 .. nrows-1 in the order of arrival; the
 * number is the *row id*.
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

#include "engine/gs_progress.h"

typedef enum gs_status
{
	GS_OK = 0,
	GS_INVALID,					/* arguments contradict each other */
	GS_NO_SPACE,				/* workspace smaller than gs_sort_workspace_bytes() */
	GS_CANCELLED,				/* *cancel became nonzero; nothing was produced */
	GS_DEVICE_ERROR,			/* a device refused an operation; the next job may do
								 * better */
	GS_DEVICE_LOST				/* a device has failed for good */
} gs_status;

/* Most planes that one sort takes; more are GS_INVALID. */
#define GS_MAX_PLANES	256

/* A sentence for the status, constant storage. */
extern const char *gs_status_text(gs_status status);

typedef enum gs_null_order
{
	GS_NULLS_NONE = 0,			/* no null bit: an earlier plane has decided it */
	GS_NULLS_FIRST,
	GS_NULLS_LAST
} gs_null_order;

typedef struct gs_plane
{
	const uint64_t *words;		/* nrows words; those of null rows are ignored */
	const uint64_t *nulls;		/* bit (i & 63) of word (i >> 6) set: row i is
								 * null.  NULL pointer: no row is */
	gs_null_order null_order;	/* meaningful only with nulls */
} gs_plane;

typedef struct gs_sort_args
{
	uint64_t	nrows;
	unsigned	nplanes;
	const gs_plane *planes;		/* most significant first */
	unsigned	id_bytes;		/* 4 or 8: width of the row ids in the result;
								 * 4 needs nrows <= 2^32 */
	void	   *workspace;		/* aligned to 64 bytes */
	size_t		workspace_bytes;	/* at least gs_sort_workspace_bytes() */
	uint64_t   *equal;			/* out, optional: bitmap of (nrows + 63) / 64
								 * words; bit i set means that the row at
								 * position i has the same composite key as the
								 * row at position i-1.  Bit 0 is never set */
	const volatile int *cancel; /* optional: polled; nonzero makes the engine
								 * return GS_CANCELLED within milliseconds */
	gs_progress *progress;		/* optional: raised from where it is to the end of
								 * its stage, which need not be planned */
} gs_sort_args;

typedef struct gs_sort_result
{
	void	   *ids;			/* nrows row ids of id_bytes each, in key order,
								 * inside workspace; equal keys in ascending
								 * row id order (the sort is stable) */
	unsigned	key_bits;		/* significant bits of the composite key */
	unsigned	passes;			/* radix passes made over all rows */
	uint64_t	refined_rows;	/* rows that tied on the bits an item holds, 64
								 * less those of a row id, so that the planes
								 * had to be read again */
	bool		presorted;		/* input was found in order, nothing was moved */
} gs_sort_result;

/*
 * Bytes of workspace that a sort of so many rows needs, whatever the planes:
 * 16 a row and about 64 kB.  SIZE_MAX when there are too many rows (2^48).
 */
extern size_t gs_sort_workspace_bytes(uint64_t nrows);

/*
 * Sort.  The planes are read only.  On any status but GS_OK the contents of
 * workspace, equal and *result are undefined and nothing else has changed but
 * the progress, so the call may simply be repeated.
 */
extern gs_status gs_sort(const gs_sort_args *args, gs_sort_result *result);

#endif							/* GS_ENGINE_H */
