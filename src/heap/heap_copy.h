/*
 * heap_copy.h
 *		What a table is copied from and to, and what becomes of its rows.
 */
#ifndef GPUSORT_HEAP_COPY_H
#define GPUSORT_HEAP_COPY_H

#include "utils/rel.h"

/* What the server asks for: relation_copy_for_cluster() of a table access method. */
typedef struct GpuSortHeapCopy
{
	Relation	old_heap;
	Relation	new_heap;		/* without blocks */
	Relation	index;			/* whose order is wanted */
	bool		sort;			/* the planner wants rows sorted, not read through the index */
	TransactionId oldest_xmin;	/* versions deleted before are dead to all */
	TransactionId freeze_xid;
	MultiXactId freeze_multi;
} GpuSortHeapCopy;

/* Versions of rows, as VERBOSE shows them. */
typedef struct GpuSortHeapCounts
{
	double		kept;
	double		removed;
	double		recently_dead;	/* of those kept */
} GpuSortHeapCounts;

/* What reading the table tells. */
typedef struct GpuSortHeapFindings
{
	GpuSortHeapCounts counts;
	bool		chains;			/* some versions, chains of updates may lead to or from */
	uint64		toasted;		/* versions that go through the toaster */
	uint64		bytes;			/* on pages, of all versions */
	uint32		shortest;		/* bytes on a page, of versions; 0: there are none */
	uint32		longest;
} GpuSortHeapFindings;

#endif							/* GPUSORT_HEAP_COPY_H */
