/*
 * gs_sort.h
 *		Sorting on CPUs, by one process or by several.
 */
#ifndef GS_SORT_H
#define GS_SORT_H

#include <stddef.h>
#include <stdint.h>

#include "engine/gs_engine.h"

/* ---------- workspace: what it is divided into ---------- */

/* Workspaces, and the parts that they are divided into, begin at a line of the cache. */
#define GS_LINE_BYTES	64

static inline uint64_t
gs_round_to_line(uint64_t bytes)
{
	return (bytes + GS_LINE_BYTES - 1) / GS_LINE_BYTES * GS_LINE_BYTES;
}

/* Returns the bytes from one half to the next. */
static inline uint64_t
gs_workspace_half_bytes(uint64_t nrows)
{
	return gs_round_to_line(nrows * sizeof(uint64_t));
}

/* Returns the bytes that lie before the halves, for a sort by one process. */
extern uint64_t gs_workspace_front_bytes(uint64_t nrows);

/*
 * Returns the bytes of workspace that a sort of so many rows needs, whatever the planes: 16 a row
 * and about 64 kB.  SIZE_MAX if there are too many rows (2^48).
 */
extern size_t gs_sort_workspace_bytes(uint64_t nrows);

/* ---------- sort: by a process that has nobody to wait for ---------- */

/*
 * It is plain C11 without globals, it never allocates, and it never calls back: the caller hands it
 * memory, and gets back a status.  It raises a word of the caller's that tells how far the sort has
 * come.
 */

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

/* ---------- shared sort: by any number of participants ---------- */

/*
 * Participants are processes or threads that map the same memory, at whatever addresses: the
 * planes, the workspace, the bitmap of equal rows, and the struct gs_shared_sort with what lies
 * behind it.  The engine never waits: the sort is cut into phases, and a phase into pieces that any
 * participant takes.  Each participant does
 *
 *		participant = gs_participant_begin(memory, shared, args);
 *		for (phase = 0; !gs_shared_sort_done(shared, phase); phase++)
 *		{
 *			status = gs_participate(participant, phase);
 *			wait until all participants have come as far, or have gone
 *		}
 *
 * The wait is the caller's: a barrier of the server's, or of threads.  A participant may come late,
 * in whatever phase the others are, if the barrier lets it in; and it may leave when the others do
 * not wait for it any more.  A participant that has not come is not waited for.  But one that dies
 * in the middle of a piece leaves a sort that can't be finished; since planes are only read, the
 * sort may be done again from the start.
 *
 * The result is that of gs_sort(), whichever participant has done what.
 */

/* Most participants of one sort. */
#define GS_MAX_PARTICIPANTS	1024

typedef struct gs_shared_sort gs_shared_sort;
typedef struct gs_participant gs_participant;

/*
 * Returns the bytes that participants share beside the workspace: some kB, and 1/50 of a byte a row
 * for each participant; or SIZE_MAX if there are too many rows or participants.
 */
extern size_t gs_shared_sort_bytes(uint64_t nrows, unsigned nplanes, unsigned participants);

/*
 * Sets up a sort by at most so many participants, before any of them begins.  The memory is aligned
 * to 64 bytes.  Only the numbers in args matter here, not its pointers.
 */
extern gs_status gs_shared_sort_init(gs_shared_sort *shared, const gs_sort_args *args,
									 unsigned participants);

/* Returns the bytes of memory that a participant needs for itself. */
extern size_t gs_participant_bytes(uint64_t nrows, unsigned participants);

/*
 * Makes a participant in `memory`, which is aligned to 64 bytes.  Args are the same for all
 * participants but for addresses, flags and progress, and have to stay where they are; each
 * participant has its own numberings of planes.  Returns NULL if there have been as many
 * participants as were planned, with those that have left.
 */
extern gs_participant *gs_participant_begin(void *memory, gs_shared_sort *shared,
											const gs_sort_args *args);

/*
 * Does pieces of a phase until none is left.  Returns GS_CANCELLED if one of the flags in args says
 * so, or if another participant has been cancelled: then this sort can't be finished any more.
 */
extern gs_status gs_participate(gs_participant *participant, uint32_t phase);

/*
 * Returns whether there is nothing left to do in this phase or later.  All participants have
 * finished the phases before.
 */
extern bool gs_shared_sort_done(const gs_shared_sort *shared, uint32_t phase);

/*
 * Sets *result, by the addresses of this participant; its layout lies in the participant's memory.
 */
extern void gs_participant_result(gs_participant *participant, gs_sort_result *result);

/* Returns how many participants have begun. */
extern unsigned gs_shared_sort_participants(gs_shared_sort *shared);

#endif							/* GS_SORT_H */
