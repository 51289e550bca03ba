/*
 * plan_statistics.h
 *		What statistics tell about the input of a sort.
 */
#ifndef GPUSORT_PLAN_STATISTICS_H
#define GPUSORT_PLAN_STATISTICS_H

#include "nodes/plannodes.h"

#include "plan/plan_pathkeys.h"

/*
 * Do the rows of a path that one process executes come in order by the first of these keys, as statistics
 * tell, or because an index is read, whatever the planner thinks of its order?
 */
extern bool gpusort_path_is_in_order(PlannerInfo *root, const Path *path,
									 const GpuSortPathKeys *keys);

/* The same for the input of a Sort in a finished plan that has this range table. */
extern bool gpusort_input_is_in_order(const Sort *sort, const List *rtable);

/* Correlation of a column's order by the operator with that of the table's rows; 0: unknown. */
extern double gpusort_correlation(Oid relation, AttrNumber attno, Oid sortop, Oid collation);

#endif							/* GPUSORT_PLAN_STATISTICS_H */
