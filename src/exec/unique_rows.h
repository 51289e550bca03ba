/*
 * unique_rows.h
 *		The first ones of equal rows: the rows of a sort that are not equal to the row before.
 *
 * The sort tells which rows are equal to the row before (gpusort_tell_equal()), so that of equal
 * rows only the first one is looked at, or none if rows are only counted.  Where the rows don't lie
 * in memory, or the sort cannot tell which are equal, rows are compared as they come.
 */
#ifndef GPUSORT_UNIQUE_ROWS_H
#define GPUSORT_UNIQUE_ROWS_H

#include "nodes/execnodes.h"
#include "nodes/plannodes.h"

#include "pg_compat/explain.h"
#include "sort/sort_view.h"

typedef struct GpuSortUniqueRows
{
	PlanState  *child;			/* a GpuSort, or a GpuSort Shared that is read in slices */
	bool		is_shared;
	ExprContext *econtext;		/* the node's, for `match` */
	ExprState  *match;			/* whether two rows are equal, where they have to be compared */

	/* this execution */
	bool		opened;
	bool		is_view;		/* rows are read through `view`, otherwise through the child */
	bool		all_taken;		/* the rows of a GpuSort, which are one stretch, were taken */
	GpuSortView view;
} GpuSortUniqueRows;

/*
 * Initializes `rows` for a node whose child has just been initialized.  The node's plan says which
 * columns are compared.
 */
extern void gpusort_begin_unique_rows(GpuSortUniqueRows *rows, CustomScanState *css);

/* Sorts, if need be.  Returns false if the rows have to be read through the child. */
extern bool gpusort_open_unique_rows(GpuSortUniqueRows *rows);

/*
 * Takes the next stretch of the view, positions *from .. *end - 1, for this participant.  Rows that
 * are equal are never in different stretches.  Returns false if there are no more.
 */
extern bool gpusort_next_unique_stretch(GpuSortUniqueRows *rows, uint64 *from, uint64 *end);

/*
 * Reads the next row of the child that is not equal to the row in `previous`, and stores it there.
 * Returns false if there is none.
 */
extern bool gpusort_next_unique_row(GpuSortUniqueRows *rows, TupleTableSlot *previous);

extern void gpusort_rescan_unique_rows(GpuSortUniqueRows *rows);

/* Explains how this process has found out which rows are equal. */
extern void gpusort_explain_unique_rows(const GpuSortUniqueRows *rows, ExplainState *es);

#endif							/* GPUSORT_UNIQUE_ROWS_H */
