/*
 * plan_true_cost.h
 *		What joins cost in truth, where the planner has another opinion.
 *
 * A hash join's cost leaves out what waiting for its table takes.  A path of ours that costs less
 * than such a one does in truth gets a cost just below what the planner takes it for: so what is
 * planned above sees the cost that it would have seen without us.  That is less than the path costs, and may
 * mislead what is planned above, so it is done only where more is gained than is hidden.
 */
#ifndef GPUSORT_PLAN_TRUE_COST_H
#define GPUSORT_PLAN_TRUE_COST_H

#include "nodes/pathnodes.h"

/* What the first, cheapest one of the paths costs in truth; DBL_MAX if there is none to compare with. */
extern Cost gpusort_true_cost(const List *paths);

/* Take the place of the cheapest path if that costs more in truth, by as much as the path's cost is lowered. */
extern void gpusort_undercut(Path *path, const List *paths);

/* Remember what a path of a GpuSort Join costs, before its cost is changed. */
extern void gpusort_note_true_cost(CustomPath *path);

#endif							/* GPUSORT_PLAN_TRUE_COST_H */
