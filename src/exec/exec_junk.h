/*
 * exec_junk.h
 *		Returning the rows of a GpuSort without the columns that are only sorted by.
 *
 * The executor passes the rows of a query with such columns through a junk filter, which deforms
 * every row and stores the wanted values as another row.  But the wanted columns are the first
 * ones, as a rule, and a slot whose descriptor has fewer columns than its tuple shows just the
 * first ones.  So if a GpuSort returns the query's rows, we tell it to return them in a slot with
 * the filter's descriptor (clean_slot.h), and remove the filter.
 */
#ifndef GPUSORT_EXEC_JUNK_H
#define GPUSORT_EXEC_JUNK_H

#include "executor/execdesc.h"
#include "nodes/execnodes.h"

/*
 * Returns the node of a query whose slots hold the query's rows: the top node, or the node below a
 * Limit that passes slots on as they are.
 */
extern PlanState *gpusort_returning_node(PlanState *query);

/*
 * Removes the junk filter of a query, which has just been started, if a GpuSort can leave the junk
 * columns out instead.
 */
extern void gpusort_leave_out_junk(QueryDesc *query);

#endif							/* GPUSORT_EXEC_JUNK_H */
