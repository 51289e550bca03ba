/*
 * exec_sort.h
 *		Executing a GpuSort node.
 */
#ifndef GPUSORT_EXEC_SORT_H
#define GPUSORT_EXEC_SORT_H

#include "nodes/execnodes.h"
#include "nodes/plannodes.h"

#include "exec/exec_cursor.h"
#include "sort/sort_view.h"

extern Node *gpusort_create_sort_state(CustomScan *scan);

/* GpuSort nodes that were begun in this process, ever. */
extern uint64 gpusort_nodes_begun;

extern bool gpusort_is_sort(const PlanState *node);

/* If the node is a GpuSort: this Limit takes rows of it, and nobody else does. */
extern void gpusort_tell_limit(PlanState *node, LimitState *limit);

/*
 * If the node is a GpuSort that can do that: let it return its rows in a slot of the descriptor,
 * which has the first columns of them.
 */
extern bool gpusort_return_clean_rows(PlanState *node, TupleDesc desc);

/*
 * For a GpuSort: its rows in order, sorted now if need be, until it is rescanned; false if they have
 * to be read through the node.
 */
extern bool gpusort_sorted_view(PlanState *node, GpuSortView *view);

/*
 * For a node above that reads the rows of a GpuSort by position, in memory or not: a cursor of its own,
 * until the sort is rescanned.  Sorts now if need be; false if the rows have to be read through the node.
 */
extern bool gpusort_sorted_cursor(PlanState *node, GpuSortCursor *cursor);

/* If the node is a GpuSort that has not begun: somebody will look into its result, who needs rows. */
extern void gpusort_tell_viewed(PlanState *node);

/* Rows of a sort that was performed, by position. */
typedef struct GpuSortReturned
{
	GpuSort    *sort;
	TupleDesc	desc;			/* of the columns that are returned, which are the first ones */
	bool		all_columns;	/* ... that are stored */
	uint64		from;
	uint64		to;				/* the last one's, and one more */
} GpuSortReturned;

/*
 * For a node that has returned a row: if it is a GpuSort and all its rows are stored in memory, which
 * ones are that row and those after it, as many as the Limit above will take.  Whoever reads them there
 * asks the node for no more.
 */
extern bool gpusort_returned_rows(PlanState *node, GpuSortReturned *returned);

/*
 * For a node above that reads two GpuSorts by position: have the rows of each, and then sort both
 * at once if that can be had (sort_merged.h); else they are sorted when they are viewed.  Those that
 * were are read by views only, and are both rescanned or neither is.
 */
extern void gpusort_sort_collect(PlanState *node);
extern void gpusort_sort_merged(PlanState *const nodes[2]);

/*
 * If the node is a GpuSort, whose rows are returned as they are: nobody knows when more of them
 * will be fetched, so don't keep memory that others lack.
 */
extern void gpusort_give_way(PlanState *node);

#endif							/* GPUSORT_EXEC_SORT_H */
