/*
 * plan_statistics.h
 *		What statistics tell about the input of a sort, and about groups.
 */
#ifndef GPUSORT_PLAN_STATISTICS_H
#define GPUSORT_PLAN_STATISTICS_H

#include "nodes/plannodes.h"

#include "plan/plan_pathkeys.h"

/*
 * Returns whether the rows of a path that one process executes come in order by the first of these
 * keys, because statistics tell so, or because an index is read, even if the planner does not know
 * its order.
 */
extern bool gpusort_path_is_in_order(PlannerInfo *root, const Path *path,
									 const GpuSortPathKeys *keys);

/* Returns the same for the input of a Sort in a finished plan that has this range table. */
extern bool gpusort_input_is_in_order(const Sort *sort, const List *rtable);

/*
 * Returns the correlation of a column's order by the operator with that of the table's rows; 0 if
 * it is not known.
 */
extern double gpusort_correlation(Oid relation, AttrNumber attno, Oid sortop, Oid collation);

/*
 * Returns which share of the rows to be sorted by these keys have a string in the first column that
 * agrees with another row's in its first word, as the column's histogram tells.  Returns 0 if there
 * is none, if the column has no strings, and for few rows.
 */
extern double gpusort_tied_share(PlannerInfo *root, const GpuSortPathKeys *keys);

/*
 * Returns how many groups by these expressions there are at least: those by the expressions that
 * are columns or have statistics of their own, from an index or extended ones; 0 if there are none
 * of these.  How many values any other expression has is a guess: as many as its columns.
 */
extern double gpusort_known_groups(PlannerInfo *root, const List *exprs, double rows);

/*
 * Returns the same for pathkeys by which the planner expects `groups` groups, or that number if no
 * pathkey's is a guess.
 */
extern double gpusort_known_groups_by(PlannerInfo *root, const List *pathkeys, double rows,
									  double groups);

#endif							/* GPUSORT_PLAN_STATISTICS_H */
