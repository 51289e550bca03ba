/*
 * btree_slice_writer.h
 *		One process's part in writing an index: slices of the sorted order into leaf
 *		pages, and those into the file.
 *
 * Pages are linked and written as they are completed, many at a time.  Their blocks
 * are known by then: a slice's first and last block, and those between as far as it
 * is sure to have so many pages, are set aside when the slice before it is taken.
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
	BlockNumber first;			/* of the blocks set aside */
	BlockNumber last;
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
	uint64		noted;			/* position of the first tuple not in notes yet */
	BlockNumber next_block;		/* of those set aside; slice.last is not among them */
	bool		begun;			/* slice.first is in use */
	GpuSortPageBatch batch;
} GpuSortSliceWriter;

/* Memory comes from the current context; the storage is the caller's. */
extern void gpusort_slice_writer_begin(GpuSortSliceWriter *writer,
									   const GpuSortIndexTarget *target, const GpuSortView *view,
									   GpuSortStorage *storage, const GpuSortNoteSink *sink);

/* Form and write a slice; everything but the first page's left sibling is there then. */
extern void gpusort_slice_writer_write(GpuSortSliceWriter *writer, const GpuSortSlice *slice);

#endif							/* GPUSORT_BTREE_SLICE_WRITER_H */
