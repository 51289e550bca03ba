/*
 * gs_progress.h
 *		How far work has come, for somebody who looks at it from elsewhere.
 *
 * Progress is a word in memory that rises from 0 to a total and that others may
 * read at any time.  Whoever works raises it by plain stores: nobody is called,
 * and nothing waits.
 *
 * Work is counted in units of its own (nanoseconds a row, as far as they are
 * known) and seldom known beforehand.  So there is a *plan*: what is estimated to
 * lie between here and the end of the present *stage*, which is a part of the
 * word's range.  The word rises in proportion to the work done; where more is done
 * than was planned it takes ever smaller steps and never arrives, and where less
 * is done it jumps when the stage is left.  It never falls, whatever the plans.
 *
 * All functions do nothing if the progress is NULL.
 */
#ifndef GS_PROGRESS_H
#define GS_PROGRESS_H

#include <stddef.h>
#include <stdint.h>

typedef struct gs_progress
{
	volatile int64_t *word;
	double		at;				/* *word, with its fraction */
	double		end;			/* *word when the stage ends */

	/* the plan, in units of work */
	double		left;			/* until the end of the stage */
	double		least;			/* left does not fall below */
	double		pending;		/* done, but not told yet */
	double		step;			/* pending that is worth telling */
} gs_progress;

/* Set *word to 0; it will rise to total. */
extern void gs_progress_begin(gs_progress *progress, volatile int64_t *word, int64_t total);

/* Plan what is left of the stage, from here on; as often as more is known. */
extern void gs_progress_plan(gs_progress *progress, double work);

/*
 * Begin a stage within the present one: the part that makes up so much of its
 * work.  It has to be planned.  Returns what gs_progress_leave() wants.
 */
extern gs_progress gs_progress_enter(gs_progress *progress, double work);
extern void gs_progress_leave(gs_progress *progress, const gs_progress *outer);

/* Go to the end of the stage. */
extern void gs_progress_finish(gs_progress *progress);

/* For gs_progress_advance(). */
extern void gs_progress_tell(gs_progress *progress);

/* Some of the planned work is done. */
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
