/*
 * heap_progress.h
 *		What pg_stat_progress_cluster shows of a copy: what it shows of the server's own.
 */
#ifndef GPUSORT_HEAP_PROGRESS_H
#define GPUSORT_HEAP_PROGRESS_H

#include "storage/block.h"

/* The table's pages are read; there are so many of them. */
extern void gpusort_heap_show_reading(BlockNumber pages);
extern void gpusort_heap_show_read(BlockNumber pages, double versions);

extern void gpusort_heap_show_sorting(void);

extern void gpusort_heap_show_writing(void);
extern void gpusort_heap_show_written(double versions);

/* Whatever was shown, somebody else begins anew. */
extern void gpusort_heap_show_nothing(void);

#endif							/* GPUSORT_HEAP_PROGRESS_H */
