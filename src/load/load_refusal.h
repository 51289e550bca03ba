/*
 * load_refusal.h
 *		The first row that an index of a table in use refuses.
 *
 * Entries are put into one index after the other, each in the order of its keys; PostgreSQL's COPY puts them there row by row, and
 * ends at the first row that is refused.  So what an index says of a row is kept until no row before can be refused any more.
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
	BlockNumber first_block;	/* from which on rows can be ours */
	GpuSortLeafNumber leaf;
	uint64		rows;			/* about so many */
} GpuSortFilledTable;

#define GPUSORT_MOST_SUSPECTS	64

typedef struct GpuSortRefusal
{
	const GpuSortLoadState *state;
	const GpuSortFilledTable *filled;
	MemoryContext context;
	ErrorData  *error;			/* NULL: none was refused so far */
	ItemPointerData tid;		/* the row */
	int			index;			/* the number of the one that refuses it */
	int			tried;			/* so many that might have been */

	/* rows in front of it that an index may refuse, too: the first ones, in their order */
	int			nsuspects;
	ItemPointerData suspects[GPUSORT_MOST_SUSPECTS];
} GpuSortRefusal;

/* An index, by number among those of the table. */
typedef struct GpuSortRefusingIndex
{
	int			number;
	Relation	relation;
	IndexInfo  *info;
} GpuSortRefusingIndex;

/* Does it matter what an index says of a row, or was one before it refused, or it itself by an index before? */
static inline bool
gpusort_refusal_is_behind(const GpuSortRefusal *refusal, const ItemPointerData *tid, int index)
{
	int			order;

	if (refusal->error == NULL)
		return true;
	order = ItemPointerCompare(unconstify(ItemPointerData *, tid), unconstify(ItemPointerData *, &refusal->tid));
	return order < 0 || (order == 0 && index < refusal->index);
}

/* What may be refused. */
typedef enum GpuSortRefusable
{
	GPUSORT_ENTRY_THERE,		/* an entry that is in the index, for its key */
	GPUSORT_ENTRY_TOO_LONG		/* one that is not, and can't be */
} GpuSortRefusable;

/* Have an index refuse an entry, if it does, and note that. */
extern void gpusort_refusal_try(GpuSortRefusal *refusal, const GpuSortRefusingIndex *index, Datum *values, bool *isnull,
								ItemPointer tid, GpuSortRefusable what);

/* A row was refused, and this one in front of it may be, which is to be tried later. */
extern void gpusort_refusal_suspect(GpuSortRefusal *refusal, const ItemPointerData *tid);

/* If a row was refused, that is the COPY's error. */
extern void gpusort_refusal_raise(const GpuSortRefusal *refusal);

/* ... and of several partitions it is the one of the first line. */
typedef struct GpuSortRefusedRow
{
	ErrorData  *error;			/* NULL: none was refused so far */
	uint64		line;
	GpuSortLeafNumber leaf;
	int			index;			/* the number of the one that refuses it */
} GpuSortRefusedRow;

extern void gpusort_refusal_keep_first(const GpuSortRefusal *refusal, GpuSortRefusedRow *first);

#endif							/* GPUSORT_LOAD_REFUSAL_H */
