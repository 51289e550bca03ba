/*
 * groups_private.h
 *		Nodes that make something of groups of equal rows: GpuSort Unique, Count and Ordered Set.
 */
#ifndef GPUSORT_GROUPS_PRIVATE_H
#define GPUSORT_GROUPS_PRIVATE_H

#include "nodes/execnodes.h"
#include "nodes/plannodes.h"
#include "utils/tuplestore.h"

#include "pg_compat/explain.h"
#include "sort/sort_result.h"

/* ---------- groups: what these nodes have in common ---------- */

/*
 * The child is a sort, so equal rows are neighbours.  Where its rows can be read by position, the
 * nodes don't execute it, but take stretches of its rows, and look at as few of these as they have
 * to: the sort tells which rows are equal to the row before (gpusort_tell_equal()).  Where the rows
 * can't be read by position, or the sort can't tell which are equal, rows are compared as the child
 * returns them.
 */

typedef struct GpuSortGroupsNode
{
	CustomScanState css;		/* must be first field */
	PlanState  *child;			/* a GpuSort, or a GpuSort Shared that is read in slices */
	ExprState  *same;			/* whether two rows are of the same group; NULL: all are */
	TupleTableSlot *row;		/* a row of the child that is being looked at */

	/* this execution */
	bool		opened;
	bool		by_position;	/* rows are read by position, otherwise through the child */
	bool		done;			/* for the nodes: there are no more groups */
	GpuSortResult *result;		/* the child's */
	GpuSortView view;			/* of its rows, unless they are read through a cursor */
	const uint64 *equal_rows;	/* rows that are equal to the row before; NULL: not known */
	uint64		next;			/* positions next .. end - 1 of the stretch, which have not been */
	uint64		end;			/* looked at */
} GpuSortGroupsNode;

/* Begins a node, whose plan says by which columns its groups are told apart. */
extern void gpusort_begin_groups(GpuSortGroupsNode *node);

/*
 * Sorts, if need be, and finds out whether the rows can be read by position.  Without a cursor,
 * they are read through the view, which must tell which rows are equal.  With one, they are read
 * through the cursor, and nothing need be known of equal rows.
 */
extern void gpusort_open_groups(GpuSortGroupsNode *node, GpuSortCursor *cursor);

/*
 * Takes the next stretch of rows by position for this participant.  No group goes on in another
 * stretch.  Returns false if there are no more.
 */
extern bool gpusort_next_stretch(GpuSortGroupsNode *node);

/* Returns whether a row belongs to the group of the row `first`. */
extern bool gpusort_is_same_group(GpuSortGroupsNode *node, TupleTableSlot *first,
								  TupleTableSlot *row);

/*
 * Reads the first row of the next group through the child, and stores it in `previous`, which has
 * the first row of the group before, or is empty.  Returns false if there is none.
 */
extern bool gpusort_next_first_row(GpuSortGroupsNode *node, TupleTableSlot *previous);

/*
 * Returns the row that the node returns for a group, whose columns have been put into the empty
 * scan slot; NULL if the node's conditions remove it.
 */
extern TupleTableSlot *gpusort_return_group(GpuSortGroupsNode *node);

/* Callbacks: let go of the child's rows; begin anew; explain how equal rows were found. */
extern void gpusort_release_groups(CustomScanState *css);
extern void gpusort_rescan_groups(CustomScanState *css);
extern void gpusort_explain_equal_rows(CustomScanState *css, List *ancestors, ExplainState *es);

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
	GpuSortGroupsNode groups;	/* must be first field */
	bool		without_rows;	/* if there are no rows, they are an (empty) group */

	/* the column of values */
	AttrNumber	attno;
	bool		nulls_first;
	int16		length;
	bool		by_value;
	Oid			collation;
	FmgrInfo	equal;			/* whether two values are equal */

	/* this execution */
	GpuSortCursor cursor;		/* for rows by position */
	Tuplestorestate *store;		/* for others; or NULL */
	uint64		store_at;		/* number of the row that the store returns next */

	/* the group */
	TupleTableSlot *first;		/* its first row */
	TupleTableSlot *ahead;		/* the first row of the next group, if rows come one by one */
	uint64		nrows;
	uint64		from;			/* position of the first value that is not null */
	uint64		nvalues;
} GpuSortGroupValues;

/*
 * Begins a node.  The values are in the sort column behind those that its groups are told apart by.
 */
extern void gpusort_begin_group_values(GpuSortGroupValues *values);

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

/* Forgets the group and its values. */
extern void gpusort_clear_group_values(GpuSortGroupValues *values);

#endif							/* GPUSORT_GROUPS_PRIVATE_H */
