/*
 * plan_statistics.h
 *		What statistics tell about the input of a sort, and about groups.
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

/*
 * Of the rows to be sorted by these keys, those whose strings in the first column agree in their first word with others',
 * as the column's histogram tells; 0 if it doesn't, of what is no string, and of rows that are too few.
 */
extern double gpusort_tied_share(PlannerInfo *root, const GpuSortPathKeys *keys);

/*
 * How many groups there are at least by these expressions, of which some are columns, or have statistics of their own, by
 * an index or extended ones; 0 if none has.  How many values others have is a guess: as many as their columns.
 */
extern double gpusort_known_groups(PlannerInfo *root, const List *exprs, double rows);

/* The same by pathkeys, by which the planner expects so many groups: these, if none of them is a guess. */
extern double gpusort_known_groups_by(PlannerInfo *root, const List *pathkeys, double rows,
									  double groups);

#endif							/* GPUSORT_PLAN_STATISTICS_H */
