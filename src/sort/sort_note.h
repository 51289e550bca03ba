/*
 * sort_note.h
 *		Counting sorts that are done, and logging them if they took long.
 *
 * Public: other folders include it.
 */
#ifndef GPUSORT_SORT_NOTE_H
#define GPUSORT_SORT_NOTE_H

#include "sort/sort.h"

/*
 * Count a sort that was performed, or that of an index build that is done, and log it if it took
 * long.  collect_time and load_time are what its caller took beside gpusort_perform(): to collect
 * the rows, and to write pages of an index or a table.  Called once for each sort, by the process
 * that has performed it.  What the sort does afterwards, such as reading runs back, is counted when
 * it is reset or ended.
 */
extern void gpusort_note_sort(GpuSort *sort, instr_time collect_time, instr_time load_time);

/*
 * Count what a sort has done since gpusort_note_sort(), when it is reset or ended; called within
 * src/sort.
 */
extern void gpusort_note_rest(GpuSort *sort);

#endif							/* GPUSORT_SORT_NOTE_H */
