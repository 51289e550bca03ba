/*
 * into_private.h
 *		What the files here have of each other.
 */
#ifndef GPUSORT_INTO_PRIVATE_H
#define GPUSORT_INTO_PRIVATE_H

#include "access/htup_details.h"
#include "executor/tuptable.h"
#include "nodes/execnodes.h"
#include "utils/rel.h"

#include "exec/exec.h"
#include "sort/sort_slices.h"
#include "table/table.h"
#include "team/turns.h"

/* ---------- target: a table that sorted rows are put into ---------- */

typedef struct GpuSortIntoTarget
{
	Relation	table;
	GpuSortTableOwner owner;	/* frozen: the rows are visible to all who see the table */
	bool		in_use;			/* has rows, or others may insert: pages go through buffers */

	/* for rows that can't be put as they are */
	List	   *columns;		/* computes the table's from the result's; NIL: the same */
	bool		checked;		/* rows are checked by the table's constraints */
	bool		by_leader;		/* workers may not compute these columns, or check rows */
	Index		relid;			/* in the query; 0 in a worker, whose errors nobody sees */
	EState	   *estate;			/* the query's, or a worker's own */
} GpuSortIntoTarget;

/* ---------- rows of a sorted result, made tuples of a table ---------- */

typedef struct GpuSortIntoRows
{
	bool		stored;			/* the result's tuples have the table's columns as they are */
	bool		may_fail;		/* a row may raise an error */
	ProjectionInfo *projection; /* computes the table's columns; NULL: they are the result's */
	ResultRelInfo *checked;		/* the table whose constraints are checked, or NULL */
	EState	   *estate;
	MemoryContext context;		/* where a tuple is formed */
} GpuSortIntoRows;

/*
 * Begins rows, allocated in the current context.  "desc" is the result's, and "stored" tells
 * whether the result's tuples have just the columns of "desc".
 */
extern void gpusort_into_begin_rows(GpuSortIntoRows *rows, const GpuSortIntoTarget *target,
									TupleDesc desc, bool stored);

extern void gpusort_into_end_rows(GpuSortIntoRows *rows);

/*
 * Returns the tuple for a row in a slot of minimal tuples, which is valid until the next call.
 * Raises the same errors as PostgreSQL.
 */
extern MinimalTuple gpusort_into_make_tuple(GpuSortIntoRows *rows, TupleTableSlot *slot);

static inline MinimalTuple
gpusort_into_tuple(GpuSortIntoRows *rows, TupleTableSlot *slot)
{
	if (likely(rows->stored && !rows->may_fail))
		return ((MinimalTupleTableSlot *) slot)->mintuple;
	return gpusort_into_make_tuple(rows, slot);
}

/* ---------- pages of a table, filled with the rows of a slice ---------- */

/*
 * A *slice* is a stretch of the sorted result.  Which blocks of the table its pages become is
 * decided when the pages are full.
 */

/*
 * Begins to fill pages, in the current context.  "storage" is that of a new table, and NULL for a
 * table in use.
 */
extern GpuSortTableSink *gpusort_into_begin_sink(const GpuSortIntoTarget *target,
												 GpuSortStorage *storage);

/*
 * Appends a row, whose tuple has the columns of the table.  Returns false if the row needs the
 * toaster, which workers do not have.
 */
extern bool gpusort_into_put_tuple(GpuSortTableTail *tail, MinimalTuple tuple);

/* Appends a row by way of the toaster. */
extern void gpusort_into_put_toasted(GpuSortTableTail *tail, MinimalTuple tuple);

/* ---------- slices: what each participant does ---------- */

/*
 * The result is cut into slices.  Each participant takes one slice after the other and makes pages
 * of its rows.  The slices have turns, one after the other (team/turns.h): in its turn, the pages
 * of a slice become the next blocks of the table.  So the table's rows lie in the order of the
 * result.
 */

/* What all participants know; in shared memory if there are workers. */
typedef struct GpuSortIntoTask
{
	Oid			table;
	GpuSortTableOwner owner;
	bool		in_use;			/* as in the GpuSortIntoTarget */
	bool		checked;
	GpuSortSlices slices;
	bool		stored;			/* the result's tuples have just the columns that it returns */
	GpuSortSharedFile file;
	GpuSortTurns turns;
} GpuSortIntoTask;

/* What makes pages of the rows of a slice. */
typedef struct GpuSortIntoFiller
{
	GpuSortIntoRows rows;
	GpuSortTableSink *sink;
	bool		toasted;		/* some row of the pages went through the toaster */
} GpuSortIntoFiller;

/* The state of a participant. */
typedef struct GpuSortIntoSlices
{
	GpuSortIntoTask *task;
	bool		is_leader;
	bool		shared;			/* several participants put rows into the table */
	GpuSortStorage *storage;	/* of a new table, else NULL */
	GpuSortSliceReader source;
	GpuSortIntoFiller own;
	GpuSortIntoFiller left;		/* in the leader, for a slice that was left to it */
	uint64		rows;			/* how many this participant has put */
} GpuSortIntoSlices;

extern void gpusort_into_init_task(GpuSortIntoTask *task, const GpuSortIntoTarget *target,
								   const GpuSortSlices *slices, bool stored);

/*
 * Begins to put rows, allocated in the current context.  View and table must stay open, and so must
 * the storage, if the table is new.
 */
extern void gpusort_into_begin_slices(GpuSortIntoSlices *slices, GpuSortIntoTask *task,
									  const GpuSortIntoTarget *target, GpuSortStorage *storage,
									  const GpuSortView *view, TupleDesc desc);

/* To be called before rows are put if several participants put them. */
extern void gpusort_into_share(GpuSortIntoSlices *slices);

/*
 * Puts slices into the table until there are none left.  In the leader, returns when the rows of
 * all slices are there.
 */
extern void gpusort_into_put_slices(GpuSortIntoSlices *slices);

extern void gpusort_into_end_slices(GpuSortIntoSlices *slices);

/* ---------- having a result put there, by workers if there are any ---------- */

/* Returns whether the rows are too few to be worth being put by whole pages. */
extern bool gpusort_into_are_few(const GpuSortReturned *rows);

/* Puts the rows into a table: behind the rows that it has, or as its first blocks. */
extern void gpusort_into_write(const GpuSortIntoTarget *target, const GpuSortReturned *rows);

#endif							/* GPUSORT_INTO_PRIVATE_H */
