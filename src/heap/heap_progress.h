/*
 * heap_progress.h
 *		Reports a copy to pg_stat_progress_cluster, in the way of the server's own copies.
 */
#ifndef GPUSORT_HEAP_PROGRESS_H
#define GPUSORT_HEAP_PROGRESS_H

#include "storage/block.h"

/* Report that reading begins, of so many pages, and then how much has been read. */
extern void gpusort_heap_show_reading(BlockNumber pages);
extern void gpusort_heap_show_read(BlockNumber pages, double versions);

/* Report that sorting begins. */
extern void gpusort_heap_show_sorting(void);

/* Report that writing begins, and then how many versions have been written. */
extern void gpusort_heap_show_writing(void);
extern void gpusort_heap_show_written(double versions);

/* Clear the counts before the server's own copy, which begins from the start. */
extern void gpusort_heap_show_nothing(void);

#endif							/* GPUSORT_HEAP_PROGRESS_H */
