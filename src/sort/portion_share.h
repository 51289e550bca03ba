/*
 * portion_share.h
 *		Portions of a spilled sort, divided among the processes that have collected its rows.
 *
 * Each process takes some of the portions, and has the rows of these for itself, a window of
 * positions at a time (sort_fetch.h), as if they were all rows of a sort.  Rows that are equal in
 * the first columns are in one portion, however many they are.
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

/* What the leader tells the other processes about the portions, in shared memory. */
typedef struct GpuSortSharedPortions
{
	uint32		parts;			/* number of the shared sort (gpusort_parts_number) */
	uint32		file;			/* number of the file with the portions */
	uint32		count;			/* of portions */
	int			workers;		/* processes that there is memory for, beside the leader */
} GpuSortSharedPortions;

/*
 * Asks for the portions of a shared sort, if it is read back in portions, to be divided among
 * processes.  Rows that are equal in the first group_columns columns then stay in one portion.  If
 * there are several portions, each has min_rows rows at least.
 */
extern void gpusort_divide(GpuSort *sort, int group_columns, uint64 min_rows);

/*
 * Returns how many processes beside the leader could load portions of a performed sort: there is
 * memory for so many, and there are portions for them.  0 if there are no portions.
 */
extern int	gpusort_portion_workers(const GpuSort *sort);

/*
 * Lets other processes take portions of a performed sort, and describes these in *shared.  Returns
 * false if all rows are in memory, or if there are not portions or not memory enough for several
 * processes.
 */
extern bool gpusort_share_portions(GpuSort *sort, GpuSortSharedPortions *shared);

/*
 * Returns the number of portions that a performed sort was divided into, some of which may have to
 * be split when they are loaded.  0 if all rows are in memory.
 */
extern uint32 gpusort_portions_planned(const GpuSort *sort);

/* Called in a process that is not the leader: prepares a part for taking portions. */
extern void gpusort_open_portions(GpuSort *part, const GpuSortSharedPortions *shared);

/*
 * Takes a portion, of whose rows the positions are *from .. *to - 1.  They can be fetched from now
 * on.  In the leader, rows at other positions can be fetched, too.
 */
extern void gpusort_take_portion(GpuSort *sort, uint32 number, uint64 *from, uint64 *to);

/*
 * Returns a copy of the first tuple behind the portion that was taken and ends at `to`, or NULL if
 * it is the last portion.  The copy includes marks of dead rows.  The caller may change it, and it
 * is valid until the next call or fetch.
 */
extern void *gpusort_tuple_behind(GpuSort *sort, uint64 to);

#endif							/* GPUSORT_PORTION_SHARE_H */
