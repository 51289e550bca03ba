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
 * Of a sort in the midst of gpusort_perform(): verify the order, if that is called for, with the
 * help of its team, and repair it.  False if it is not right even so.
 */
extern bool gpusort_order_is_right(GpuSort *sort);

/* Help with that: the sort is a lent one. */
extern void gpusort_verify_stretches(GpuSort *sort, TeamStretches *job);

#endif							/* GPUSORT_SORT_VERIFY_H */
