/*
 * btree_slice_cuts.h
 *		Where a sorted order is cut into slices.
 *
 * Pure arithmetic on a view, the same in every process.
 *
 * If all tuples are of one length and none goes into a posting list, every page has the
 * same number of them, and slices are cut where pages end anyway: the pages are those
 * that one process would write, however short the slices are.  Otherwise the last page
 * of a slice is as full as it happens to be, half on average: slices of 1000 pages cost
 * 0.05 % of space.
 *
 * Posting lists are not cut.  In a run of equal keys they are all as long as they may
 * be, so that their ends are known: a run may be cut there, however long it is.
 */
#ifndef GPUSORT_BTREE_SLICE_CUTS_H
#define GPUSORT_BTREE_SLICE_CUTS_H

#include "btree/btree_stream.h"

/*
 * Even if all tuples of a slice go into posting lists it has this many TIDs, for two
 * pages at least: a slice's first and last page have to be different ones.
 */
#define GPUSORT_SLICE_MIN_ROWS		(2 * BLCKSZ / sizeof(ItemPointerData))

typedef struct GpuSortSliceCuts
{
	uint64		nrows;
	uint64		slice_rows;		/* about, and if exact precisely, but for the last one */
	uint32		nslices;
	uint32		page_rows;		/* of each page; 0: not known */
} GpuSortSliceCuts;

/* Slices of about so many pages. */
extern void gpusort_slice_cuts_make(GpuSortSliceCuts *cuts, const GpuSortStream *stream,
									int slice_pages);

/* The first position of a slice; of slice nslices: the end. */
extern uint64 gpusort_slice_cuts_start(const GpuSortSliceCuts *cuts, const GpuSortStream *stream,
									   uint32 slice);

/* Leaf pages that a slice has at least; precisely, if page_rows are known. */
extern uint32 gpusort_slice_cuts_min_pages(const GpuSortSliceCuts *cuts, const GpuSortStream *stream,
										   uint32 slice);

/* ... of a slice of these positions of a stream's view. */
extern uint32 gpusort_slice_min_pages(const GpuSortStream *stream, uint64 from, uint64 to);

#endif							/* GPUSORT_BTREE_SLICE_CUTS_H */
