/*
 * sort_note.h
 *		Sorts that are through: counted, and logged if they took long.
 *
 * Public: other folders include it.
 */
#ifndef GPUSORT_SORT_NOTE_H
#define GPUSORT_SORT_NOTE_H

#include "sort/sort.h"

/*
 * A sort that is performed, or an index build's that is through, has taken so long beside that;
 * load_time: the index's pages.  What it does afterwards, such as reading runs back, is counted
 * when it is reset or ended.  Once for each sort: by who has performed it.
 */
extern void gpusort_note_sort(GpuSort *sort, instr_time collect_time, instr_time load_time);

/* Within src/sort: the sort is reset or ended, count what it has done since. */
extern void gpusort_note_rest(GpuSort *sort);

#endif							/* GPUSORT_SORT_NOTE_H */
