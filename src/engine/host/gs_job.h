/*
 * gs_job.h
 *		One sort in progress: what its steps share.
 *
 * An *item* is one word per row: the bits of the section in front, the row id in the low id_bits.
 * Ids make all items different, so sorting items as plain integers is stable by construction.  In a
 * sort that returns keys only, items are keys, and may be the same.
 */
#ifndef GS_JOB_H
#define GS_JOB_H

#include "engine/gs_engine.h"
#include "engine/gs_layout.h"

/*
 * The widest digit, see gs_radix.c, and the most digits that are counted at once.  gs_radix_bits()
 * returns log2(rows) + 3 bits, rounded up to whole digits, or the 64 - log2(rows) that an item has
 * if these are fewer.  That is never more than 40 bits in digits of 10, or 16 in the narrower
 * digits that few rows take.
 */
#define GS_DIGIT_MAX_BITS	10
#define GS_MAX_DIGITS		4

/* Tables that are too large for a backend's stack; they lie in front of the items. */
typedef struct gs_scratch
{
	uint64_t	counts[GS_MAX_DIGITS][1 << GS_DIGIT_MAX_BITS];
	gs_layout	layout;
	gs_section	section;
} gs_scratch;

/* The items, or rows, [begin, end). */
typedef struct gs_range
{
	uint64_t	begin;
	uint64_t	end;
} gs_range;

static inline uint64_t
gs_range_rows(gs_range range)
{
	return range.end - range.begin;
}

typedef struct gs_job
{
	/* constant while the sort goes on */
	const gs_layout *layout;
	gs_scratch *scratch;
	uint64_t	nrows;
	uint64_t   *equal;			/* may be NULL */
	const volatile int *cancel;
	const volatile int *also_cancel;
	gs_progress *progress;		/* may be NULL */
	unsigned	id_bits;
	bool		keys_only;		/* items are whole keys, without ids */
	uint64_t	bits_behind_first;	/* bits of the key behind its first section */

	/* the items, and as much memory to move them to */
	uint64_t   *items;
	uint64_t   *spare;
	gs_range	positions;		/* where the items belong, among all rows in order */

	/* how far the sort has come */
	uint64_t	work;			/* rows handled since the last look at *cancel */
	double		row_cost;		/* planned cost of a row in the present step */
	uint64_t	refined_rows;
	unsigned	passes;
	bool		moved;
} gs_job;

/* A sort of more rows is refused, so that all sizes stay far from overflowing. */
#define GS_MAX_ROWS	(UINT64_C(1) << 48)

/*
 * So many rows, at least 2, are handled between two looks at *cancel: less than a millisecond of
 * work.
 */
#define GS_POLL_ROWS	(UINT64_C(1) << 16)

/* Tells the progress of the work that was accounted for; returns true if the job must stop. */
extern bool gs_job_look(gs_job *job);

/* Accounts for `rows` rows of work; returns true if the job must stop. */
static inline bool
gs_job_cancelled(gs_job *job, uint64_t rows)
{
	job->work += rows;
	return job->work >= GS_POLL_ROWS && gs_job_look(job);
}

/*
 * Returns the width of the next section, if bits_left bits of the key are left: as many of them as
 * fit an item.
 */
static inline unsigned
gs_section_bits(uint64_t bits_left, unsigned id_bits)
{
	return bits_left < 64 - id_bits ? (unsigned) bits_left : 64 - id_bits;
}

static inline unsigned
gs_job_section_bits(const gs_job *job, gs_cursor cursor)
{
	return gs_section_bits(cursor.bits_left, job->id_bits);
}

static inline void
gs_job_swap_halves(gs_job *job)
{
	uint64_t   *items = job->items;

	job->items = job->spare;
	job->spare = items;
}

#endif							/* GS_JOB_H */
