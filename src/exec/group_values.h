/*
 * group_values.h
 *		Groups of sorted rows, and the values of a group by their number.
 *
 * The rows are those of a sort by some columns, whose values are the groups', and then by one more.  Of a
 * group's rows no more are looked at than it takes to find its end, and that of its nulls, by halving:
 * in memory, in temporary files, or made of their keys.  Rows that can only be read one by one, since a
 * tuplesort or another participant has them, are kept in a tuplestore, group by group.
 */
#ifndef GPUSORT_GROUP_VALUES_H
#define GPUSORT_GROUP_VALUES_H

#include "nodes/execnodes.h"
#include "utils/tuplestore.h"

#include "exec/exec_cursor.h"
#include "pg_compat/explain.h"
#include "sort/sort_view.h"

typedef struct GpuSortGroupValues
{
	PlanState  *child;			/* a GpuSort, or a GpuSort Shared, whose slices are this participant's */
	bool		is_shared;
	ExprContext *econtext;		/* of the node */
	ExprState  *same;			/* are two rows of the same group?  NULL: all are */
	bool		without_rows;	/* no rows are a group, too */

	/* the column of values */
	AttrNumber	attno;
	bool		nulls_first;
	int16		length;
	bool		by_value;
	Oid			collation;
	FmgrInfo	equal;			/* of two values */

	/* this execution */
	bool		opened;
	bool		by_position;	/* the cursor reads the rows, else the store has those of the group */
	bool		all_taken;		/* of a GpuSort, whose rows are one stretch */
	GpuSortCursor cursor;
	GpuSortView view;			/* of slices; or of a GpuSort's rows, to see which are equal */
	bool		is_equal_known; /* so it tells */
	uint64		next;			/* rows of a stretch that are in no group yet */
	uint64		end;
	Tuplestorestate *store;
	uint64		store_at;		/* number of the row that it returns next */
	bool		done;

	/* the group */
	TupleTableSlot *first;		/* its first row */
	TupleTableSlot *ahead;		/* that of the next one, if rows come one by one */
	TupleTableSlot *row;		/* any row */
	uint64		nrows;
	uint64		from;			/* where values begin that are not null, and so many are */
	uint64		nvalues;
} GpuSortGroupValues;

/* The child of the node, which has just been initialised, whose plan says what the groups are. */
extern void gpusort_begin_group_values(GpuSortGroupValues *values, CustomScanState *css);

/* Go to the next group, the first time sorting.  Without GROUP BY there is one, of no rows perhaps. */
extern bool gpusort_next_group(GpuSortGroupValues *values);

/* The value of a number, from 0 on, copied. */
extern Datum gpusort_group_value(GpuSortGroupValues *values, uint64 number);

/* The number of the first of those that are most, of equal values; there are some. */
extern uint64 gpusort_most_frequent(GpuSortGroupValues *values);

extern void gpusort_clear_group_values(GpuSortGroupValues *values);
extern void gpusort_rescan_group_values(GpuSortGroupValues *values);

#endif							/* GPUSORT_GROUP_VALUES_H */
