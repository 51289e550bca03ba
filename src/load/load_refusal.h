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

typedef struct GpuSortRefusal
{
	const GpuSortLoadState *state;
	const GpuSortFilledTable *filled;
	MemoryContext context;
	ErrorData  *error;			/* NULL: none was refused so far */
	ItemPointerData tid;		/* the row */
	int			index;			/* the number of the one that refuses it */
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

/* Finding the lines of rows of a table, which are asked for in their order. */
typedef struct GpuSortLineFinder
{
	const GpuSortLoadState *state;
	const GpuSortFilledTable *filled;
	GpuSortOrderReader order;
	uint64		rows;			/* of all partitions, that were passed */
	uint64		place;			/* the last of them that is the table's, the first one's being 1 */
	uint64		line;
	uint64		at;				/* behind it */
} GpuSortLineFinder;

extern void gpusort_lines_find_begin(GpuSortLineFinder *finder, const GpuSortRefusal *refusal);

/* The line of a row by its place among those of the table. */
extern uint64 gpusort_lines_find(GpuSortLineFinder *finder, uint64 place);

extern void gpusort_lines_find_end(GpuSortLineFinder *finder);

/*
 * Insert an entry, or check one that is there, which the index may refuse: that is noted then.  Returns what index_insert()
 * does; true if it was refused.  "line": the row's; 0: that is to be found out.
 */
extern bool gpusort_refusal_try(GpuSortRefusal *refusal, const GpuSortRefusingIndex *index, Datum *values, bool *isnull,
								ItemPointer tid, uint64 line, IndexUniqueCheck check);

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
