/*
 * unique_rows.h
 *		The rows of a sort that are not equal to the one before.
 *
 * The sort tells which are (gpusort_tell_equal()), so that of equal rows only the first one is looked
 * at, or none, if they are to be counted.  Where the rows don't lie in memory, or nobody knows, they
 * are compared as they come.
 */
#ifndef GPUSORT_UNIQUE_ROWS_H
#define GPUSORT_UNIQUE_ROWS_H

#include "nodes/execnodes.h"
#include "nodes/plannodes.h"

#include "pg_compat/explain.h"
#include "sort/sort_view.h"

typedef struct GpuSortUniqueRows
{
	PlanState  *child;			/* a GpuSort, or a GpuSort Shared, whose slices are this participant's */
	bool		is_shared;
	ExprContext *econtext;		/* of the node */
	ExprState  *match;			/* rows that have to be compared */

	/* this execution */
	bool		opened;
	bool		is_view;		/* the rows lie in memory; the others are the child's */
	bool		all_taken;		/* of a GpuSort, whose rows are one stretch */
	GpuSortView view;
} GpuSortUniqueRows;

/* The child of the node, which has just been initialised, whose plan says what is compared. */
extern void gpusort_begin_unique_rows(GpuSortUniqueRows *rows, CustomScanState *css);

/* Sort, if need be.  False: the rows have to be read through the child. */
extern bool gpusort_open_unique_rows(GpuSortUniqueRows *rows);

/* The next positions of the view that are this participant's, none of equal rows is elsewhere. */
extern bool gpusort_next_unique_stretch(GpuSortUniqueRows *rows, uint64 *from, uint64 *end);

/*
 * The next row of the child that is not equal to the one before, which is `previous`, and becomes
 * that; false if there is none.
 */
extern bool gpusort_next_unique_row(GpuSortUniqueRows *rows, TupleTableSlot *previous);

extern void gpusort_rescan_unique_rows(GpuSortUniqueRows *rows);

/* EXPLAIN: how this process has found them. */
extern void gpusort_explain_unique_rows(const GpuSortUniqueRows *rows, ExplainState *es);

#endif							/* GPUSORT_UNIQUE_ROWS_H */
