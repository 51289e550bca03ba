/*
 * btree_slice_writer.h
 *		One process's part in writing an index: makes leaf pages of slices of the sorted
 *		order, and writes them to the file.
 *
 * Pages are linked and written as they are completed, many at a time.  Their blocks
 * are known by then.  A slice's first and last block are set aside before the slice
 * before it is written, and with them as many blocks between as the slice is sure to
 * need.  So the pages on both sides of a cut know each other's blocks although neither
 * page exists, and a slice's pages lie side by side but for those that could not be
 * foreseen.
 */
#ifndef GPUSORT_BTREE_SLICE_WRITER_H
#define GPUSORT_BTREE_SLICE_WRITER_H

#include "lib/stringinfo.h"

#include "btree/btree_storage.h"
#include "btree/btree_stream.h"
#include "btree/btree_target.h"

/* How many pages are completed before they are linked and written. */
#define GPUSORT_SLICE_BATCH		32

typedef struct GpuSortSlice
{
	uint32		number;
	uint64		from;			/* the slice has the sort's positions from .. to - 1 */
	uint64		to;
	BlockNumber left;			/* last block of the slice before, or P_NONE */
	BlockNumber first;			/* block of the slice's first page */
	BlockNumber middle;			/* blocks middle .. middle_end - 1 are set aside for pages */
	BlockNumber middle_end;		/* between the first and the last */
	BlockNumber last;			/* block of the last page, which is never the first page, too */
	BlockNumber right;			/* first block of the slice after, or P_NONE */
} GpuSortSlice;

/*
 * Notes tell the process that builds the levels above about pages of a slice, in order.  They
 * begin with this header; then follow, for each page, a GpuSortSliceNote and the page's high
 * key, MAXALIGN'd, if it has one.
 */
typedef struct GpuSortSliceNotes
{
	uint32		slice;			/* number of the slice */
	uint32		npages;
	uint64		ntuples;		/* tuples put since the last notes, for progress reporting */
	bool		last;			/* the slice is complete, and written */
} GpuSortSliceNotes;

typedef struct GpuSortSliceNote
{
	BlockNumber block;
	uint32		high_key_bytes; /* 0: the page is the index's last one */
} GpuSortSliceNote;

/* Where notes are sent; send() may read them until it returns. */
typedef struct GpuSortNoteSink
{
	void		(*send) (void *arg, const GpuSortSliceNotes *notes, Size bytes);
	void	   *arg;
} GpuSortNoteSink;

/* Pages that are complete, but not linked nor written yet. */
typedef struct GpuSortPageBatch
{
	int			npages;
	int			nblocks;		/* how many pages, from the first on, have a block */
	char	   *pages[GPUSORT_SLICE_BATCH];
	BlockNumber blocks[GPUSORT_SLICE_BATCH];
	BlockNumber left;			/* left sibling of pages[0] */
} GpuSortPageBatch;

typedef struct GpuSortSliceWriter
{
	GpuSortStream stream;
	GpuSortStorage *storage;
	GpuSortNoteSink sink;
	StringInfoData notes;

	GpuSortSlice slice;
	uint64		view_first;		/* the sort's position of the open view's first tuple */
	uint64		noted;			/* position up to which notes have counted tuples */
	bool		begun;			/* slice.first has been given to a page */
	GpuSortPageBatch batch;
} GpuSortSliceWriter;

/* Begins, in the current context.  The storage stays the caller's. */
extern void gpusort_slice_writer_begin(GpuSortSliceWriter *writer,
									   const GpuSortIndexTarget *target,
									   GpuSortStorage *storage, const GpuSortNoteSink *sink);

/* Takes tuples from this view from now on, whose first tuple is at position `first` of the sort. */
extern void gpusort_slice_writer_open_view(GpuSortSliceWriter *writer, const GpuSortView *view,
										   uint64 first);

/*
 * Form and write a slice.  Its tuples are put in order, by positions of the sort, from the open
 * view; another view may be opened between.  `next` is the first tuple of the next slice; NULL:
 * there is none.
 */
extern void gpusort_slice_writer_start(GpuSortSliceWriter *writer, const GpuSortSlice *slice);
extern void gpusort_slice_writer_put(GpuSortSliceWriter *writer, uint64 from, uint64 to);
extern void gpusort_slice_writer_end(GpuSortSliceWriter *writer, IndexTuple next);

#endif							/* GPUSORT_BTREE_SLICE_WRITER_H */
