/*
 * plan_known.h
 *		What has been found out about the planner's relations and clauses, kept while they are there.
 */
#ifndef GPUSORT_PLAN_KNOWN_H
#define GPUSORT_PLAN_KNOWN_H

#include "nodes/pathnodes.h"

/*
 * So many bytes that are found again by the address of what they are about, which must have been
 * allocated by itself: zeros for the first time.  They lie in its memory context and end with that.
 */
extern void *gpusort_known(PlannerInfo *root, const void *about, Size size);

#endif							/* GPUSORT_PLAN_KNOWN_H */
