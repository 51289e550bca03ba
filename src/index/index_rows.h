/*
 * index_rows.h
 *		Takes in the rows that one process of an index build reads.
 *
 * If the pool has memory for the process's part of the shared sort, rows go to this part until it
 * can't take any more.  Later rows, or all if there is no part, go to a sort in private memory.
 * The leader's is the sort that the index is made from; a worker's has no key columns, and is
 * emptied into a queue to the leader whenever it holds a batch (index_exchange.h).
 */
#ifndef GPUSORT_INDEX_ROWS_H
#define GPUSORT_INDEX_ROWS_H

#include "sort/sort_parts.h"

typedef struct GpuSortIndexRows
{
	GpuSort    *sort;
	GpuSortParts *parts;		/* parts of all processes; NULL if there are none */
	GpuSort    *part;			/* this process's part; NULL if it has none */
	bool		part_full;		/* the part is full, so rows go into `sort` */
	bool		failed;			/* some row could not be taken in, or see `hopeless` */
	bool		hopeless;		/* set with `failed` in the leader: not all rows are going to fit */
} GpuSortIndexRows;

/* Begin this process's part, if there are parts; called before the first row. */
extern void gpusort_index_begin_part(GpuSortIndexRows *rows, Relation index);

/* Hand this process's part to the leader; called after the last row. */
extern void gpusort_index_finish_part(GpuSortIndexRows *rows);

/*
 * Put a row of these column values into the sort, unless an earlier row has failed.  Rows that are
 * not alive don't count for uniqueness.
 */
extern void gpusort_index_put_values(GpuSortIndexRows *rows, const Datum *values,
									 const bool *isnull, ItemPointer tid, bool alive);

/* Put index tuples that a worker has formed, which lie end to end in so many bytes. */
extern void gpusort_index_put_tuples(GpuSortIndexRows *rows, const char *tuples, Size bytes);

#endif							/* GPUSORT_INDEX_ROWS_H */
