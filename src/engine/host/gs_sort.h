/*
 * gs_sort.h
 *		The engine on the host: a stable sort of rows on one CPU.
 *
 * It is plain C11 without globals, it never allocates, and it never calls back: the caller hands it
 * memory, and gets back a status.  It raises a word of the caller's that tells how far the sort has
 * come.
 */
#ifndef GS_SORT_H
#define GS_SORT_H

#include "engine/gs_engine.h"
#include "engine/host/gs_workspace.h"

typedef struct gs_sort_args
{
	uint64_t	nrows;
	unsigned	nplanes;
	const gs_plane *planes;		/* most significant first */
	/* 4 or 8: width of the row ids in the result; 4 needs nrows <= 2^32 */
	unsigned	id_bytes;
	void	   *workspace;		/* aligned to 64 bytes */
	size_t		workspace_bytes;	/* at least gs_sort_workspace_bytes() */
	/*
	 * out, optional: bitmap of (nrows + 63) / 64 words.  Bit i is set if the row at position i has
	 * the same key as the row at position i-1.  Bit 0 is never set.
	 */
	uint64_t   *equal;
	/*
	 * return keys instead of ids, if they fit a word: rows with the same key need not be told apart
	 */
	bool		want_keys;
	/* optional: polled; nonzero makes the engine return GS_CANCELLED within milliseconds */
	const volatile int *cancel;
	const volatile int *also_cancel;	/* optional: another such flag */
	/* optional: raised from where it is to the end of its stage, which need not be planned */
	gs_progress *progress;
} gs_sort_args;

typedef struct gs_sort_result
{
	/*
	 * nrows row ids of id_bytes each, in key order, inside workspace; those of equal keys ascend
	 * (the sort is stable).  NULL if there are keys instead.
	 */
	void	   *ids;
	const uint64_t *keys;		/* NULL, or nrows keys in order, inside workspace */
	/* how to read keys (gs_layout_find_word()), inside workspace, too */
	const struct gs_layout *layout;
	unsigned	key_bits;		/* significant bits of the composite key */
	unsigned	passes;			/* radix passes made over all rows */
	/*
	 * rows that tied on the bits an item holds, 64 less those of a row id, so that the planes had
	 * to be read again
	 */
	uint64_t	refined_rows;
	bool		presorted;		/* input was found in order, nothing was moved */
} gs_sort_result;

/*
 * Sorts.  The planes are read only.  On any status but GS_OK the contents of workspace, equal and
 * *result are undefined and nothing else has changed but the progress, so the call may simply be
 * repeated.
 */
extern gs_status gs_sort(const gs_sort_args *args, gs_sort_result *result);

#endif							/* GS_SORT_H */
