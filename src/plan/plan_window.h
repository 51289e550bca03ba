/*
 * plan_window.h
 *		Window functions in parallel workers.
 */
#ifndef GPUSORT_PLAN_WINDOW_H
#define GPUSORT_PLAN_WINDOW_H

#include "nodes/pathnodes.h"

/*
 * Adds paths above sorts of ours, and paths whose window functions are computed by parallel
 * workers.
 */
extern void gpusort_add_window_paths(PlannerInfo *root, RelOptInfo *input_rel,
									 RelOptInfo *window_rel);

#endif							/* GPUSORT_PLAN_WINDOW_H */
