/*
 * groups_private.h
 *		Groups of sorted rows, and rows without those equal to them.
 */
#ifndef GPUSORT_GROUPS_PRIVATE_H
#define GPUSORT_GROUPS_PRIVATE_H

#include "nodes/execnodes.h"
#include "nodes/plannodes.h"
#include "utils/tuplestore.h"

#include "pg_compat/explain.h"
#include "sort/sort_result.h"

/* ---------- group values: groups of sorted rows, and their values by number ---------- */

/*
 * The rows are sorted by some columns, whose values define the groups, and then by one more column,
 * that of the values.  Only as many of a group's rows are looked at as it takes to find, by
 * halving, where the group and its nulls end.  This works for rows in memory, in temporary files,
 * or made of their keys.  Rows that can only be read one by one, because they are in a tuplesort or
 * belong to another participant, are kept in a tuplestore, group by group.
 */

typedef struct GpuSortGroupValues
{
	PlanState  *child;			/* a GpuSort, or a GpuSort Shared that is read in slices */
	ExprContext *econtext;		/* the node's, for `same` */
	ExprState  *same;			/* whether two rows are of the same group; NULL: all are */
	bool		without_rows;	/* if there are no rows, they are an (empty) group */

	/* the column of values */
	AttrNumber	attno;
	bool		nulls_first;
	int16		length;
	bool		by_value;
	Oid			collation;
	FmgrInfo	equal;			/* whether two values are equal */

	/* this execution */
	bool		opened;
	bool		by_position;	/* rows are read through the cursor, otherwise from the store */
	GpuSortResult *result;
	GpuSortCursor cursor;
	const uint64 *equal_rows;	/* rows that are equal to the row before; NULL: not known */
	uint64		next;			/* positions next .. end - 1 of a stretch are in no group yet */
	uint64		end;
	Tuplestorestate *store;
	uint64		store_at;		/* number of the row that the store returns next */
	bool		done;

	/* the group */
	TupleTableSlot *first;		/* its first row */
	TupleTableSlot *ahead;		/* the first row of the next group, if rows come one by one */
	TupleTableSlot *row;		/* a row that is being looked at */
	uint64		nrows;
	uint64		from;			/* position of the first value that is not null */
	uint64		nvalues;
} GpuSortGroupValues;

/*
 * Initializes `values` for a node whose child has just been initialized.  The node's plan says what
 * the groups are.
 */
extern void gpusort_begin_group_values(GpuSortGroupValues *values, CustomScanState *css);

/*
 * Goes to the next group, sorting first if need be.  Returns false if there is none.  Without GROUP
 * BY there is exactly one group, which may have no rows.
 */
extern bool gpusort_next_group(GpuSortGroupValues *values);

/* Returns a copy of the group's value with this number, counted from 0; nulls have no numbers. */
extern Datum gpusort_group_value(GpuSortGroupValues *values, uint64 number);

/*
 * Returns the number of the first of the most frequent value's occurrences.  The group must have
 * values.
 */
extern uint64 gpusort_most_frequent(GpuSortGroupValues *values);

extern void gpusort_clear_group_values(GpuSortGroupValues *values);
extern void gpusort_rescan_group_values(GpuSortGroupValues *values);

/* ---------- unique rows: the rows of a sort that are not equal to the row before ---------- */

/*
 * These are the first ones of equal rows.
 *
 * The sort tells which rows are equal to the row before (gpusort_tell_equal()), so that of equal
 * rows only the first one is looked at, or none if rows are only counted.  Where the rows don't
 * lie in memory, or the sort cannot tell which are equal, rows are compared as they come.
 */

typedef struct GpuSortUniqueRows
{
	PlanState  *child;			/* a GpuSort, or a GpuSort Shared that is read in slices */
	ExprContext *econtext;		/* the node's, for `match` */
	ExprState  *match;			/* whether two rows are equal, where they have to be compared */

	/* this execution */
	bool		opened;
	GpuSortResult *result;		/* the child's */
	bool		is_view;		/* rows are read through `view`, otherwise through the child */
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

#endif							/* GPUSORT_GROUPS_PRIVATE_H */
