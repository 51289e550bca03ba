/*
 * exec_junk.h
 *		Queries whose rows are a GpuSort's, without the columns that are only sorted by.
 *
 * The executor returns rows through a junk filter then, which takes every row apart and stores
 * the values that are wanted as a row of their own.  But they are the first ones, as a rule, and
 * a slot of fewer columns than its tuple has shows just these.  So such a GpuSort is told to
 * return its rows in a slot of the filter's descriptor (clean_slot.h), and the filter goes.
 */
#ifndef GPUSORT_EXEC_JUNK_H
#define GPUSORT_EXEC_JUNK_H

#include "executor/execdesc.h"
#include "nodes/execnodes.h"

/* The node of a query whose slots are its rows, as it returns them or a Limit passes them on. */
extern PlanState *gpusort_returning_node(PlanState *query);

/* For a query that was started. */
extern void gpusort_leave_out_junk(QueryDesc *query);

#endif							/* GPUSORT_EXEC_JUNK_H */
