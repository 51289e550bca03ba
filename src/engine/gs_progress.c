/*
 * gs_progress.c
 *		How far work has come; see gs_progress.h.
 *
 * With `left` units planned between here and the end, w units of work take the
 * word the part w / left of the way.  A plan that turns out to be too small would
 * end too early, so what is left never falls below a part of the plan, and grows
 * with the work done from there on: what remains of the way is then in inverse
 * proportion to the work in excess, 1/1000 of it after twice the planned work, and
 * a counter of a million rows still moves.
 */
#include "engine/gs_progress.h"

/*
 * Part of the plan that is kept back.  The word jumps over about twice that part
 * at the end of a stage whose plan was right.
 */
#define KEPT_BACK	(1.0 / 64)

/* Steps that a plan is told in. */
#define STEPS		512

static void
raise_word(gs_progress *progress)
{
	*progress->word = (int64_t) progress->at;
}

/* Take work, more than none, off the plan; returns where that leads. */
static double
spend(gs_progress *progress, double work)
{
	double		to;

	progress->left -= work;
	if (progress->left < progress->least)
		progress->left = progress->least += progress->least - progress->left;
	to = progress->at + (progress->end - progress->at) * (work / (work + progress->left));
	return to < progress->end ? to : progress->end;
}

void
gs_progress_begin(gs_progress *progress, volatile int64_t *word, int64_t total)
{
	if (progress == NULL)
		return;
	*progress = (gs_progress) {.word = word, .end = (double) total};
	raise_word(progress);
}

void
gs_progress_plan(gs_progress *progress, double work)
{
	if (progress == NULL)
		return;
	progress->left = work > 0 ? work : 1;
	progress->least = progress->left * KEPT_BACK;
	progress->pending = 0;
	progress->step = progress->left / STEPS;
}

void
gs_progress_tell(gs_progress *progress)
{
	if (progress->pending > 0)
		progress->at = spend(progress, progress->pending);
	progress->pending = 0;
	raise_word(progress);
}

gs_progress
gs_progress_enter(gs_progress *progress, double work)
{
	gs_progress outer = {.word = NULL};

	if (progress == NULL)
		return outer;
	gs_progress_tell(progress);
	outer = *progress;
	if (work <= outer.left)
	{
		/* of stages that are planned one by one the last goes to the end */
		outer.at += (outer.end - outer.at) * (work / outer.left);
		outer.left -= work;
	}
	else
		outer.at = spend(&outer, work);
	progress->end = outer.at;
	return outer;
}

void
gs_progress_leave(gs_progress *progress, const gs_progress *outer)
{
	if (progress == NULL)
		return;
	*progress = *outer;
	raise_word(progress);
}

void
gs_progress_finish(gs_progress *progress)
{
	if (progress == NULL)
		return;
	progress->at = progress->end;
	raise_word(progress);
}
