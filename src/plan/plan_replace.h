/*
 * plan_replace.h
 *		Taking over the Sort nodes of a finished plan.
 */
#ifndef GPUSORT_PLAN_REPLACE_H
#define GPUSORT_PLAN_REPLACE_H

#include "nodes/plannodes.h"

/*
 * Replaces the Sorts of a finished plan that are worth it, if take_over, and brings all nodes of
 * ours into their final forms.  It must be called once for each finished plan, even if no Sort is
 * to be replaced.  all_read tells that all rows of the statement are wanted, as far as is known.
 */
extern void gpusort_replace_sorts(PlannedStmt *stmt, bool take_over, bool all_read);

/*
 * Returns the sorts of a plan that has been through gpusort_replace_sorts(), a List of GpuSortLook.
 * Why a sort is left to PostgreSQL is told by the settings as they are now.
 */
extern List *gpusort_look_at_sorts(PlannedStmt *stmt, bool all_read);

#endif							/* GPUSORT_PLAN_REPLACE_H */
