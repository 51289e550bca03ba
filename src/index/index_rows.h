/*
 * index_rows.h
 *		Where the rows go that one process of an index build reads.
 *
 * They go to the process's part of the sort, if the pool has memory for one, as long as
 * that takes them.  Then they go to a sort in private memory: the leader's is the
 * one that the index is made of; a worker's has no key columns, and is emptied into
 * a queue to the leader whenever it holds a batch (index_exchange.h).
 */
#ifndef GPUSORT_INDEX_ROWS_H
#define GPUSORT_INDEX_ROWS_H

#include "sort/sort_parts.h"

typedef struct GpuSortIndexRows
{
	GpuSort    *sort;
	GpuSortParts *parts;		/* of all processes; NULL: there are none */
	GpuSort    *part;			/* this process's; NULL: there is none */
	bool		part_full;		/* rows go into `sort` */
	bool		failed;			/* some row could not be taken in, ... */
	bool		hopeless;		/* ... or, in the leader, not all would be */
} GpuSortIndexRows;

/* Before the first row: begin this process's part, if there are parts. */
extern void gpusort_index_begin_part(GpuSortIndexRows *rows, Relation index);

/* All rows have been put: let the leader have the part. */
extern void gpusort_index_finish_part(GpuSortIndexRows *rows);

/*
 * Take a row in, unless an earlier one could not be; rows that are dead don't count
 * for uniqueness.
 */
extern void gpusort_index_put_values(GpuSortIndexRows *rows, const Datum *values,
									 const bool *isnull, ItemPointer tid, bool alive);

/* The same for index tuples, end to end in so many bytes, that a worker has formed. */
extern void gpusort_index_put_tuples(GpuSortIndexRows *rows, const char *tuples, Size bytes);

#endif							/* GPUSORT_INDEX_ROWS_H */
