/*
 * plan_replace.h
 *		Taking over the Sort nodes of a finished plan.
 */
#ifndef GPUSORT_PLAN_REPLACE_H
#define GPUSORT_PLAN_REPLACE_H

#include "nodes/plannodes.h"

/*
 * Replace Sorts that are worth it, if they are to be taken over, and bring all nodes of ours into
 * their final forms; once for each finished plan, also if nothing is to be replaced.  all_read: the
 * statement's rows are wanted to the last, as far as is known.
 */
extern void gpusort_replace_sorts(PlannedStmt *stmt, bool take_over, bool all_read);

/*
 * The sorts of a plan that has been through that, a List of GpuSortLook: why those of them are left
 * that are, by the settings as they are now.
 */
extern List *gpusort_look_at_sorts(PlannedStmt *stmt, bool all_read);

#endif							/* GPUSORT_PLAN_REPLACE_H */
