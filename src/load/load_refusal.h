/*
 * load_refusal.h
 *		The first row that an index of a table in use refuses.
 *
 * Entries are put into one index after the other, each in the order of its keys, while PostgreSQL's
 * COPY inserts row by row, and ends at the first row that an index refuses.  So when an index
 * refuses a row, its error is kept until no row before this one can be refused any more.
 */
#ifndef GPUSORT_LOAD_REFUSAL_H
#define GPUSORT_LOAD_REFUSAL_H

#include "access/genam.h"
#include "nodes/execnodes.h"

#include "load/load_state.h"

/* A table, or a partition, whose indexes are given entries. */
typedef struct GpuSortFilledTable
{
	Relation	table;
	BlockNumber first_block;	/* our rows are in this block and behind */
	GpuSortLeafNumber leaf;
	uint64		rows;			/* about how many of its rows are ours */
} GpuSortFilledTable;

#define GPUSORT_MOST_SUSPECTS	64

typedef struct GpuSortRefusal
{
	const GpuSortLoadState *state;
	const GpuSortFilledTable *filled;
	MemoryContext context;
	ErrorData  *error;			/* the index's error; NULL: no row was refused so far */
	ItemPointerData tid;		/* the row that is refused */
	int			index;			/* the number of the index that refuses it */
	int			tried;			/* how many entries were tried, as they might be refused */

	/*
	 * rows in front of the refused one that an index may refuse, too: the first ones, in their
	 * order
	 */
	int			nsuspects;
	ItemPointerData suspects[GPUSORT_MOST_SUSPECTS];
} GpuSortRefusal;

/* An index, and its number among the indexes of the table. */
typedef struct GpuSortRefusingIndex
{
	int			number;
	Relation	relation;
	IndexInfo  *info;
} GpuSortRefusingIndex;

/*
 * Returns whether what an index says of a row still matters.  It does not if a row in front of this
 * one was refused, or this row itself by an index with a smaller number.
 */
static inline bool
gpusort_refusal_is_behind(const GpuSortRefusal *refusal, const ItemPointerData *tid, int index)
{
	int			order;

	if (refusal->error == NULL)
		return true;
	order = ItemPointerCompare(unconstify(ItemPointerData *, tid),
							   unconstify(ItemPointerData *, &refusal->tid));
	return order < 0 || (order == 0 && index < refusal->index);
}

/* Why an index may refuse an entry. */
typedef enum GpuSortRefusable
{
	GPUSORT_ENTRY_THERE,		/* it is in the index, and its key may be a duplicate */
	GPUSORT_ENTRY_TOO_LONG		/* it is not in the index, and probably too long for it */
} GpuSortRefusable;

/*
 * Has an index check an entry that is there, or else insert it, in a subtransaction.  If the index
 * refuses the entry, notes that, and its error, in place of what was noted before.
 */
extern void gpusort_refusal_try(GpuSortRefusal *refusal, const GpuSortRefusingIndex *index,
								Datum *values, bool *isnull, ItemPointer tid,
								GpuSortRefusable what);

/*
 * Notes that a row in front of the one that was refused may be refused, too, so that it is tried
 * later.
 */
extern void gpusort_refusal_suspect(GpuSortRefusal *refusal, const ItemPointerData *tid);

/* Raises the error of the row that was refused, if there is one. */
extern void gpusort_refusal_raise(const GpuSortRefusal *refusal);

/* Of several partitions, the refused row whose line comes first. */
typedef struct GpuSortRefusedRow
{
	ErrorData  *error;			/* the index's error; NULL: no row was refused so far */
	uint64		line;
	GpuSortLeafNumber leaf;
	int			index;			/* the number of the index that refuses it */
} GpuSortRefusedRow;

/* Keeps the row that was refused in *first, unless the row there has an earlier line. */
extern void gpusort_refusal_keep_first(const GpuSortRefusal *refusal, GpuSortRefusedRow *first);

#endif							/* GPUSORT_LOAD_REFUSAL_H */
