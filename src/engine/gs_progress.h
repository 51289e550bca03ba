/*
 * gs_progress.h
 *		How far work has come, for other processes that look at it.
 *
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
#ifndef GS_PROGRESS_H
#define GS_PROGRESS_H

#include <stddef.h>
#include <stdint.h>

typedef struct gs_progress
{
	volatile int64_t *word;
	double		at;				/* value of *word, with its fraction */
	double		end;			/* value of *word when the stage ends */

	/* the plan, in units of work */
	double		left;			/* work until the end of the stage */
	double		least;			/* `left` does not fall below this */
	double		pending;		/* work that is done, but that *word does not show yet */
	double		step;			/* so much pending work is worth a store to *word */
} gs_progress;

/* Sets *word to 0; it will rise to `total`. */
extern void gs_progress_begin(gs_progress *progress, volatile int64_t *word, int64_t total);

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

#endif							/* GS_PROGRESS_H */
