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

/* The number of GpuSort nodes that this process has ever begun. */
extern uint64 gpusort_nodes_begun;

extern bool gpusort_is_sort(const PlanState *node);

/*
 * If the node is a GpuSort, tells it that this Limit takes its rows, and that no other node does.
 */
extern void gpusort_tell_limit(PlanState *node, LimitState *limit);

/*
 * If the node is a GpuSort that fetches no rows late, makes it return its rows in a slot with this
 * descriptor, which has only the first of their columns.  Returns whether it does.
 */
extern bool gpusort_return_clean_rows(PlanState *node, TupleDesc desc);

/*
 * Fills in a view of the rows of a GpuSort in order, valid until the node is rescanned.  Sorts now
 * if need be.  Returns false if the rows have to be read through the node.
 */
extern bool gpusort_sorted_view(PlanState *node, GpuSortView *view);

/*
 * For a node above that reads the rows of a GpuSort by position, whether they are in memory or not:
 * opens a cursor of the caller's own, valid until the node is rescanned.  Sorts now if need be.
 * Returns false if the rows have to be read through the node.
 */
extern bool gpusort_sorted_cursor(PlanState *node, GpuSortCursor *cursor);

/*
 * If the node is a GpuSort, tells it before it begins to sort that a node above will ask for a view
 * of its rows, which must be stored then, not made of their keys.
 */
extern void gpusort_tell_viewed(PlanState *node);

/* Rows of a sort that was performed, by position. */
typedef struct GpuSortReturned
{
	GpuSort    *sort;
	TupleDesc	desc;			/* of the columns returned, the first ones of a row */
	bool		all_columns;	/* they are all columns of the stored rows */
	uint64		from;
	uint64		to;				/* position behind the last row */
} GpuSortReturned;

/*
 * For a node that has just returned a row.  If the node is a GpuSort, and all its rows are stored
 * in memory, fills in the positions of that row and the rows after it, as many as the Limit above
 * will take, and returns true.  A caller that reads these rows by position must not ask the node
 * for more.
 */
extern bool gpusort_returned_rows(PlanState *node, GpuSortReturned *returned);

/*
 * For a node above that reads two GpuSorts by position.  gpusort_sort_collect() collects the rows
 * of one GpuSort.  gpusort_sort_merged() then sorts the rows of both at once, if that is possible
 * (sort.h); otherwise each is sorted when it is first viewed.  Sorts that were performed at
 * once must be read by views only, and both nodes have to be rescanned if one is.
 */
extern void gpusort_sort_collect(PlanState *node);
extern void gpusort_sort_merged(PlanState *const nodes[2]);

/*
 * For the node that returns a query's rows, when nobody knows when more of them will be fetched: if
 * it is a GpuSort, makes it give up pool memory that other sorts are short of.
 */
extern void gpusort_give_way(PlanState *node);

#endif							/* GPUSORT_EXEC_SORT_H */
