/*
 * sort_verify.h
 *		Verifying the order of a sort.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_SORT_VERIFY_H
#define GPUSORT_SORT_VERIFY_H

#include "sort/team_stretches.h"

/*
 * Verify the order of a sort that is being performed, if that is called for, with the help of its
 * team, and repair it.  Returns false if the order can't be confirmed even so.
 */
extern bool gpusort_order_is_right(GpuSort *sort);

/* Help with verifying a sort that was lent to this process, as long as there are stretches. */
extern void gpusort_verify_stretches(GpuSort *sort, TeamStretches *job);

#endif							/* GPUSORT_SORT_VERIFY_H */
