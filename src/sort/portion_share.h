/*
 * portion_share.h
 *		Portions of a spilled sort, divided among the processes that have collected its rows.
 *
 * Each process takes some of the portions, and has their rows for itself, a window of positions
 * at a time (sort_fetch.h), as if they were all of a sort.  Rows that are equal in the first columns
 * are in one portion, however many they are.
 *
 *	leader			gpusort_divide() before gpusort_perform(), gpusort_share_portions()
 *	others			gpusort_parts_attach(), gpusort_parts_begin_part(), gpusort_open_portions()
 *	all				gpusort_take_portion(), gpusort_fetch_window() ...
 *
 * The leader is the process that has joined the parts.
 *
 * Public: other folders include it.
 */
#ifndef GPUSORT_PORTION_SHARE_H
#define GPUSORT_PORTION_SHARE_H

#include "sort/sort_parts.h"

/* In shared memory. */
typedef struct GpuSortSharedPortions
{
	uint32		parts;			/* number of the shared sort */
	uint32		file;			/* ... of the portions */
	uint32		count;
	int			workers;		/* that there is memory for, beside the leader */
} GpuSortSharedPortions;

/*
 * Rows that are equal in the first columns stay together if the sort, whose rows several processes
 * collect, is read back in portions; of several portions each has so many rows at least.
 */
extern void gpusort_divide(GpuSort *sort, int group_columns, uint64 min_rows);

/* How many others there is memory for, and portions, once the sort was performed; 0: none. */
extern int	gpusort_portion_workers(const GpuSort *sort);

/*
 * Let others take portions of the sort, which was performed; false if all is in memory, or if
 * there are not portions enough, or not memory enough for several processes.
 */
extern bool gpusort_share_portions(GpuSort *sort, GpuSortSharedPortions *shared);

/* Portions that a performed sort was divided into, if none needs to be split; 0: all is in memory. */
extern uint32 gpusort_portions_planned(const GpuSort *sort);

/* In another process than the leader's: let a part have portions. */
extern void gpusort_open_portions(GpuSort *part, const GpuSortSharedPortions *shared);

/* Take a portion: the rows at positions *from .. *to - 1 can be fetched, in the leader others as well. */
extern void gpusort_take_portion(GpuSort *sort, uint32 number, uint64 *from, uint64 *to);

/*
 * A copy of the first tuple behind the portion that was taken, marks of dead rows included, which the
 * caller may change; valid until the next call or fetch.  NULL: it is the last portion.
 */
extern void *gpusort_tuple_behind(GpuSort *sort, uint64 to);

#endif							/* GPUSORT_PORTION_SHARE_H */
