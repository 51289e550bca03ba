/*
 * heap_copy.h
 *		Describes the copy of a table in the order of an index, and what became of its rows.
 */
#ifndef GPUSORT_HEAP_COPY_H
#define GPUSORT_HEAP_COPY_H

#include "utils/rel.h"

/*
 * The copy that the server asks for, with the arguments of relation_copy_for_cluster() of a table
 * access method.
 */
typedef struct GpuSortHeapCopy
{
	Relation	old_heap;
	Relation	new_heap;		/* new table, which has no blocks yet */
	Relation	index;			/* index in whose order the table is copied */
	bool		sort;			/* the planner wants rows sorted, not read through the index */
	TransactionId oldest_xmin;	/* versions deleted before this are dead to all */
	TransactionId freeze_xid;
	MultiXactId freeze_multi;
} GpuSortHeapCopy;

/* Numbers of row versions, as VERBOSE shows them. */
typedef struct GpuSortHeapCounts
{
	double		kept;
	double		removed;
	double		recently_dead;	/* versions among those kept */
} GpuSortHeapCounts;

/* What was found when the table was read. */
typedef struct GpuSortHeapFindings
{
	GpuSortHeapCounts counts;
	bool		chains;			/* chains of updates may lead to or from some versions */
	uint64		toasted;		/* number of versions that have to go through the toaster */
	uint64		bytes;			/* bytes that all versions take on pages */
	/* bytes that the shortest version takes on a page; 0 if there are none */
	uint32		shortest;
	uint32		longest;
} GpuSortHeapFindings;

#endif							/* GPUSORT_HEAP_COPY_H */
