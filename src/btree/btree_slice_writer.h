/*
 * btree_slice_writer.h
 *		One process's part in writing an index: slices of the sorted order into leaf
 *		pages, and those into the file.
 *
 * Pages are linked and written as they are completed, many at a time.  Their blocks
 * are known by then: a slice's first and last block are set aside before the slice before it
 * is written, and those between as far as it is sure to have so many pages.
 * So both ends of a seam know each other's block although neither page exists, and
 * a slice's pages lie side by side but for those that could not be foreseen.
 */
#ifndef GPUSORT_BTREE_SLICE_WRITER_H
#define GPUSORT_BTREE_SLICE_WRITER_H

#include "lib/stringinfo.h"

#include "btree/btree_storage.h"
#include "btree/btree_stream.h"
#include "btree/btree_target.h"

/* Pages completed before they are linked and written. */
#define GPUSORT_SLICE_BATCH		32

typedef struct GpuSortSlice
{
	uint32		number;
	uint64		from;
	uint64		to;
	BlockNumber left;			/* last block of the slice before, or P_NONE */
	BlockNumber first;			/* block of the slice's first page */
	BlockNumber middle;			/* blocks set aside for those between: from here */
	BlockNumber middle_end;		/* ... to the one before this */
	BlockNumber last;			/* of its last page, which is another one than the first */
	BlockNumber right;			/* first block of the slice after, or P_NONE */
} GpuSortSlice;

/*
 * Notes of some pages of a slice, in order: this, then for each page a GpuSortSliceNote
 * and its high key, if it has one, MAXALIGN'd.
 */
typedef struct GpuSortSliceNotes
{
	uint32		slice;
	uint32		npages;
	uint64		ntuples;		/* that were put since the last notes, for progress */
	bool		last;			/* the slice is complete, and written */
} GpuSortSliceNotes;

typedef struct GpuSortSliceNote
{
	BlockNumber block;
	uint32		high_key_bytes; /* 0: the index's last page */
} GpuSortSliceNote;

/* Where notes go; they are the callee's to read until it returns. */
typedef struct GpuSortNoteSink
{
	void		(*send) (void *arg, const GpuSortSliceNotes *notes, Size bytes);
	void	   *arg;
} GpuSortNoteSink;

/* Pages that are complete, but not linked nor written yet. */
typedef struct GpuSortPageBatch
{
	int			npages;
	int			nblocks;		/* pages that have a block, the first ones */
	char	   *pages[GPUSORT_SLICE_BATCH];
	BlockNumber blocks[GPUSORT_SLICE_BATCH];
	BlockNumber left;			/* of pages[0]: its left sibling */
} GpuSortPageBatch;

typedef struct GpuSortSliceWriter
{
	GpuSortStream stream;
	GpuSortStorage *storage;
	GpuSortNoteSink sink;
	StringInfoData notes;

	GpuSortSlice slice;
	uint64		view_first;		/* position of the open view's first tuple */
	uint64		noted;			/* ... of the first one not in notes yet */
	bool		begun;			/* slice.first is in use */
	GpuSortPageBatch batch;
} GpuSortSliceWriter;

/* Memory comes from the current context; the storage is the caller's. */
extern void gpusort_slice_writer_begin(GpuSortSliceWriter *writer,
									   const GpuSortIndexTarget *target,
									   GpuSortStorage *storage, const GpuSortNoteSink *sink);

/* Tuples come from this view from now on, whose first one is at such a position. */
extern void gpusort_slice_writer_open_view(GpuSortSliceWriter *writer, const GpuSortView *view,
										   uint64 first);

/*
 * Form and write a slice: its tuples, from position to position of the open view or of one view after
 * the other, and the end, before the first tuple of the slice after (NULL: there is none).
 */
extern void gpusort_slice_writer_start(GpuSortSliceWriter *writer, const GpuSortSlice *slice);
extern void gpusort_slice_writer_put(GpuSortSliceWriter *writer, uint64 from, uint64 to);
extern void gpusort_slice_writer_end(GpuSortSliceWriter *writer, IndexTuple next);

#endif							/* GPUSORT_BTREE_SLICE_WRITER_H */
