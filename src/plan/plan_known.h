/*
 * plan_known.h
 *		What has been found out about the planner's relations and clauses, kept as long as
 *		these are there.
 */
#ifndef GPUSORT_PLAN_KNOWN_H
#define GPUSORT_PLAN_KNOWN_H

#include "nodes/pathnodes.h"

/*
 * Returns `size` bytes that are kept for `about`, a relation or clause that was allocated by
 * itself, and are found again by its address.  They are zeros the first time.  They lie in the
 * memory context of `about`, and end with it.
 */
extern void *gpusort_known(PlannerInfo *root, const void *about, Size size);

#endif							/* GPUSORT_PLAN_KNOWN_H */
