/*
 * index_blocks.h
 *		Deals the pages of the table out to the processes of an index build, and counts the pages
 *		that they have read.
 *
 * The processes take some pages at a time from one counter, so rows do not arrive in the order of
 * their TIDs.
 */
#ifndef GPUSORT_INDEX_BLOCKS_H
#define GPUSORT_INDEX_BLOCKS_H

#include "port/atomics.h"
#include "storage/block.h"

/* What all processes of a build share. */
typedef struct GpuSortSharedBlocks
{
	pg_atomic_uint32 next;		/* first page that no process has taken */
	pg_atomic_uint32 read;		/* pages that all processes have read */
} GpuSortSharedBlocks;

/*
 * What one process knows of the table's pages.  The caller sets the first two fields and zeroes the
 * rest.
 */
typedef struct GpuSortIndexBlocks
{
	GpuSortSharedBlocks *shared;	/* NULL if this process reads all pages */
	/* this process (the leader) shows in pg_stat_progress_create_index what all have read */
	bool		reports;
	BlockNumber total;			/* pages of the table; 0 if it is not read page by page */
	BlockNumber taken;			/* if this process reads all pages: how many it has taken */
	BlockNumber read;			/* pages that this process has read */
} GpuSortIndexBlocks;

extern void gpusort_blocks_init(GpuSortSharedBlocks *shared);

/* Prepare to read the `total` pages of the table page by page. */
extern void gpusort_blocks_begin(GpuSortIndexBlocks *blocks, BlockNumber total);

/*
 * Take the next pages for this process to read, *from .. *end - 1.  Returns false if there are none
 * left.
 */
extern bool gpusort_blocks_take(GpuSortIndexBlocks *blocks, BlockNumber *from, BlockNumber *end);

/* Note that this process has read so many pages more. */
extern void gpusort_blocks_count(GpuSortIndexBlocks *blocks, BlockNumber pages);

/* Keep all processes from taking any more pages. */
extern void gpusort_blocks_stop(GpuSortIndexBlocks *blocks);

/* Returns how many pages all processes together have read. */
extern BlockNumber gpusort_blocks_read(const GpuSortIndexBlocks *blocks);

/*
 * Show in the progress view how many pages all processes have read, if this is the process that
 * reports.
 */
extern void gpusort_blocks_report(const GpuSortIndexBlocks *blocks);

#endif							/* GPUSORT_INDEX_BLOCKS_H */
