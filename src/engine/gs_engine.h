/*
 * gs_engine.h
 *		The sort engine: columns of order-preserving words in, a permutation out.
 */
#ifndef GS_ENGINE_H
#define GS_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---------- bits: counting them, and looking at the cancel flag ---------- */

/* Returns how many bits are needed to write x: 0 for 0. */
static inline unsigned
gs_bit_width(uint64_t x)
{
	return x == 0 ? 0 : 64 - (unsigned) __builtin_clzll(x);
}

/* Returns how many low bits of x are 0; x is not 0. */
static inline unsigned
gs_trailing_zeros(uint64_t x)
{
	return (unsigned) __builtin_ctzll(x);
}

static inline unsigned
gs_popcount(uint64_t x)
{
	return (unsigned) __builtin_popcountll(x);
}

/* Returns a word whose lowest `bits` bits are set; bits is 0 .. 64. */
static inline uint64_t
gs_low_mask(unsigned bits)
{
	return bits == 0 ? 0 : UINT64_MAX >> (64 - bits);
}

static inline bool
gs_cancelled(const volatile int *cancel)
{
	return cancel != NULL && *cancel != 0;
}

/* ---------- engine: what goes in and comes out ---------- */

/*
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

/* ---------- progress: how far work has come, for others that look at it ---------- */

/*
 * Progress is a word in memory that rises from 0 to a total and that other processes may read at
 * any time.  Code that works raises it by plain stores: nothing is called, and nothing waits.
 *
 * Work is counted in units of its own (nanoseconds a row, as far as they are known), and how much
 * of it there is is seldom known beforehand.  So there is a *plan*: the work that is estimated to
 * lie between here and the end of the present *stage*, which is a part of the word's range.  The
 * word rises in proportion to the work done.  Where more is done than was planned, the word takes
 * ever smaller steps and never arrives; where less is done, it jumps when the stage is left.  It
 * never falls, whatever the plans are.
 *
 * No function does anything if its progress is NULL.
 */

typedef struct gs_progress
{
	volatile int64_t *word;
	double		at;				/* value of *word, with its fraction */
	double		end;			/* value of *word when the stage ends */

	/* another word, which is follows_from + follows_rate * *word; NULL: there is none */
	volatile int64_t *follower;
	double		follows_from;
	double		follows_rate;

	/* the plan, in units of work */
	double		left;			/* work until the end of the stage */
	double		least;			/* `left` does not fall below this */
	double		pending;		/* work that is done, but that *word does not show yet */
	double		step;			/* so much pending work is worth a store to *word */
} gs_progress;

/* Sets *word to 0; it will rise to `total`. */
extern void gs_progress_begin(gs_progress *progress, volatile int64_t *word, int64_t total);

/*
 * Has another word follow from now on: it rises to `to` in proportion to what *word rises until the
 * end of the stage.  It never falls either: it begins where it is.
 */
extern void gs_progress_follow(gs_progress *progress, volatile int64_t *follower, int64_t to);

/* Plans how much work is left of the stage, from here on; may be called whenever more is known. */
extern void gs_progress_plan(gs_progress *progress, double work);

/*
 * Begins a stage within the present one: the part that makes up so much of its work.  The new stage
 * has to be planned.  Returns the outer stage, which gs_progress_leave() goes back to.
 */
extern gs_progress gs_progress_enter(gs_progress *progress, double work);
extern void gs_progress_leave(gs_progress *progress, const gs_progress *outer);

/* Goes to the end of the stage. */
extern void gs_progress_finish(gs_progress *progress);

/* Writes the progress to *word, with pending work; for gs_progress_advance(). */
extern void gs_progress_tell(gs_progress *progress);

/* Counts some of the planned work as done. */
static inline void
gs_progress_advance(gs_progress *progress, double work)
{
	if (progress == NULL)
		return;
	progress->pending += work;
	if (progress->pending >= progress->step)
		gs_progress_tell(progress);
}

#endif							/* GS_ENGINE_H */
