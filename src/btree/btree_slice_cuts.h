/*
 * btree_slice_cuts.h
 *		Where a sorted order is cut into slices, each of which one participant writes.
 *
 * Cuts are computed from the view alone, with the same result in every process.
 *
 * If all tuples have one length and none goes into a posting list, every page has the
 * same number of tuples, and slices are cut where pages end anyway: the pages are those
 * that one process would write, however short the slices are.  Otherwise the last page
 * of a slice is as full as it happens to be, half on average: slices of 1000 pages cost
 * 0.05 % of space.
 *
 * Posting lists are not cut.  In a run of equal keys, all lists but the last are as long
 * as they may be, so that it is known where they end: a run may be cut there, however
 * long it is.
 */
#ifndef GPUSORT_BTREE_SLICE_CUTS_H
#define GPUSORT_BTREE_SLICE_CUTS_H

#include "btree/btree_stream.h"

/*
 * A slice has at least this many rows, so that it fills two pages even if all its tuples
 * go into posting lists: a slice's first and last page have to be different pages.
 */
#define GPUSORT_SLICE_MIN_ROWS		(2 * BLCKSZ / sizeof(ItemPointerData))

typedef struct GpuSortSliceCuts
{
	uint64		nrows;
	uint64		slice_rows;		/* rows of each slice but the last; exactly if page_rows are known,
								 * else about */
	uint32		nslices;
	uint32		page_rows;		/* rows of each page; 0: not known */
} GpuSortSliceCuts;

/* Cuts the stream's view, which must not be empty, into slices of about slice_pages pages. */
extern void gpusort_slice_cuts_make(GpuSortSliceCuts *cuts, const GpuSortStream *stream,
									int slice_pages);

/* Returns the first position of a slice; for slice nslices, the number of rows. */
extern uint64 gpusort_slice_cuts_start(const GpuSortSliceCuts *cuts, const GpuSortStream *stream,
									   uint32 slice);

/* Returns how many leaf pages a slice has at least; exactly how many, if page_rows are known. */
extern uint32 gpusort_slice_cuts_min_pages(const GpuSortSliceCuts *cuts,
										   const GpuSortStream *stream, uint32 slice);

/* Returns how many leaf pages a slice of positions from .. to - 1 of the view has at least. */
extern uint32 gpusort_slice_min_pages(const GpuSortStream *stream, uint64 from, uint64 to);

#endif							/* GPUSORT_BTREE_SLICE_CUTS_H */
