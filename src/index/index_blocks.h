/*
 * index_blocks.h
 *		Which pages of the table each process of an index build reads, and how many
 *		have been read.
 *
 * Processes take some pages at a time from one counter, so rows do not arrive in the
 * order of their TIDs.
 */
#ifndef GPUSORT_INDEX_BLOCKS_H
#define GPUSORT_INDEX_BLOCKS_H

#include "port/atomics.h"
#include "storage/block.h"

/* In shared memory. */
typedef struct GpuSortSharedBlocks
{
	pg_atomic_uint32 next;		/* page that no process has taken */
	pg_atomic_uint32 read;		/* pages */
} GpuSortSharedBlocks;

/* A process's view of it.  Set up with the first two fields, the rest zero. */
typedef struct GpuSortIndexBlocks
{
	GpuSortSharedBlocks *shared;	/* NULL: this process reads all pages */
	bool		reports;		/* to pg_stat_progress_create_index, for all processes */
	BlockNumber total;			/* pages of the table; 0: not read page by page */
	BlockNumber taken;			/* if this process reads all: pages that were taken */
	BlockNumber read;			/* pages that this process has read */
} GpuSortIndexBlocks;

extern void gpusort_blocks_init(GpuSortSharedBlocks *shared);

/* The table is going to be read page by page. */
extern void gpusort_blocks_begin(GpuSortIndexBlocks *blocks, BlockNumber total);

/* The next pages for this process to read, from .. end - 1; false if there are none. */
extern bool gpusort_blocks_take(GpuSortIndexBlocks *blocks, BlockNumber *from, BlockNumber *end);

/* This process has read so many pages more. */
extern void gpusort_blocks_count(GpuSortIndexBlocks *blocks, BlockNumber pages);

/* No process is to take any more pages. */
extern void gpusort_blocks_stop(GpuSortIndexBlocks *blocks);

/* Pages that all have read. */
extern BlockNumber gpusort_blocks_read(const GpuSortIndexBlocks *blocks);

/* Show the pages that all have read, if that is for this process to do. */
extern void gpusort_blocks_report(const GpuSortIndexBlocks *blocks);

#endif							/* GPUSORT_INDEX_BLOCKS_H */
