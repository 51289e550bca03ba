/*
 * gs_engine.c
 *		What each status means, as text, and how far work has come; see gs_engine.h.
 */
#include "engine/gs_engine.h"

const char *
gs_status_text(gs_status status)
{
	switch (status)
	{
		case GS_OK:
			return "sorted";
		case GS_INVALID:
			return "sort arguments contradict each other";
		case GS_NO_SPACE:
			return "sort workspace is too small";
		case GS_CANCELLED:
			return "sort was cancelled";
		case GS_DEVICE_ERROR:
			return "device refused an operation";
		case GS_DEVICE_LOST:
			return "device has failed";
		case GS_DEVICE_WRONG:
			return "device has sorted wrongly";
	}
	return "unknown sort status";
}

/* ---------- progress ---------- */

/*
 * With `left` units of work planned between here and the end, w units move the word the part w /
 * left of the way.  If the plan turns out to be too small the word would arrive too early.  So what
 * is left never falls below a part of the plan, and grows with the work done from there on.  The
 * rest of the way is then in inverse proportion to the work in excess: after twice the planned work
 * 1/1000 of the way is left, and a counter of a million rows still moves.
 */

/*
 * The part of the plan that is kept back.  The word jumps over about twice that part at the end of
 * a stage whose plan was right.
 */
#define KEPT_BACK	(1.0 / 64)

/* A plan that is right takes so many stores to *word. */
#define STEPS		512

static void
raise_word(gs_progress *progress)
{
	*progress->word = (int64_t) progress->at;
	if (progress->follower != NULL)
		*progress->follower = (int64_t) (progress->follows_from +
										 progress->follows_rate * progress->at);
}

/* Takes work, which is more than 0, off the plan; returns the value of *word that this leads to. */
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
gs_progress_follow(gs_progress *progress, volatile int64_t *follower, int64_t to)
{
	double		way;

	if (progress == NULL)
		return;
	way = progress->end - progress->at;
	progress->follower = follower;
	progress->follows_rate = way > 0 && to > *follower ? (double) (to - *follower) / way : 0;
	progress->follows_from = (double) *follower - progress->follows_rate * progress->at;
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
		/* the last of the stages that make up a plan goes to its very end */
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
