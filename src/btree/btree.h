/*
 * btree.h
 *		From the sorted tuples of an index to its pages.
 *
 * A stream puts tuples of a sort into leaf pages; a slice writer links and writes these, a slice
 * of the order at a time; the levels above are built of what is known of each leaf.  The pages go
 * out through a storage (storage.h).
 */
#ifndef GPUSORT_BTREE_H
#define GPUSORT_BTREE_H

#include "access/itup.h"
#include "access/nbtree.h"
#include "lib/stringinfo.h"
#include "nodes/execnodes.h"
#include "storage/itemptr.h"
#include "utils/rel.h"

#include "btree/btree_page.h"
#include "sort/sort_view.h"
#include "table/storage.h"

/* ---------- target: the index that is being built, as this process has it open ---------- */

typedef struct GpuSortIndexTarget
{
	Relation	heap;
	Relation	index;

	/*
	 * ii_Unique tells whether this build enforces uniqueness.  REINDEX may have cleared it
	 * although the index is unique.
	 */
	IndexInfo  *info;
} GpuSortIndexTarget;

/* ---------- leaf builder: makes leaf pages of a sorted stream of tuples ---------- */

/*
 * The builder knows nothing of block numbers, siblings, WAL or files: it fills
 * pages that its sink provides and hands each to the sink when it is complete
 * but for its links.  So it can be run over a part of the key space, by itself.
 *
 * How full pages get is the server's rule, so that an index is as large as one
 * it builds itself: a page ends before the first tuple that leaves less than the
 * fillfactor's free space behind, unless that would leave the page without a tuple.
 * That tuple begins the next page.  The shortest key that tells it from the tuple
 * before becomes the high key of the page and the key of the next page's downlink
 * (suffix truncation, done by the server's _bt_truncate()).  A posting list does
 * not count against the free space when its tuple is the last, since a high key
 * never holds it.
 */

/* Where the pages come from and go to. */
typedef struct GpuSortLeafSink
{
	void	   *arg;

	/* Returns an empty page buffer. */
	char	   *(*get_page) (void *arg);

	/*
	 * Takes a page that has no links yet.  `low_key` is the key of its downlink, a
	 * pivot tuple that has no key for the leftmost page, and is valid for the call
	 * only.  `last` says that this is the last page of the index or slice.
	 */
	void		(*put_page) (void *arg, char *page, IndexTuple low_key, bool last);
} GpuSortLeafSink;

typedef struct GpuSortLeafBuilder
{
	GpuSortIndexTarget target;
	BTScanInsert scan_key;		/* how _bt_truncate() compares */
	MemoryContext truncate_context; /* reset for each page */
	GpuSortLeafSink sink;
	int			min_space;		/* bytes that a page keeps free, by the fillfactor */

	GpuSortPage page;			/* data NULL: no page begun */
	int			last_posting;	/* bytes of the last tuple's posting list */
	char	   *low_key;		/* the page's low key; MAXALIGN'd */
} GpuSortLeafBuilder;

/*
 * Returns how many tuples of `size` bytes, without posting lists, are put on each page; the last
 * page may get one more.
 */
extern int	gpusort_btree_leaf_tuples_per_page(const GpuSortLeafBuilder *leaf, Size size);

/* ---------- posting lists: what equal neighbours of the stream become ---------- */

/*
 * Tuples with equal keys are gathered until a tuple comes that differs, or the list is
 * as long as the server makes it in a build: a tenth of a page, so that pages
 * can still be split evenly.  A single tuple stays as it is.  Several become one tuple
 * with the first one's key and all TIDs, formed in place on the leaf page.
 */

/* Bytes of the longest tuple with a posting list that a build forms. */
#define GPUSORT_DEDUP_MAX_TUPLE \
	(MAXALIGN_DOWN(MAXALIGN_DOWN(BLCKSZ * 10 / 100) - sizeof(ItemIdData)))

typedef struct GpuSortDedup
{
	GpuSortLeafBuilder *leaf;
	IndexTuple	base;			/* the first pending tuple, NULL if none */
	int			ntids;			/* pending TIDs */
	int			max_tids;		/* most TIDs that a list with base's key can have; at least 1 */
	char	   *kept;			/* buffer for a copy of base; NULL: not allocated yet */
	ItemPointerData tids[GPUSORT_DEDUP_MAX_TUPLE / sizeof(ItemPointerData)];
} GpuSortDedup;

/* Returns how many TIDs the longest posting list has that begins with this tuple. */
static inline int
gpusort_dedup_max_tids(IndexTuple base)
{
	int			bytes = (int) GPUSORT_DEDUP_MAX_TUPLE - (int) IndexTupleSize(base);

	return Max(bytes / (int) sizeof(ItemPointerData), 1);
}

/* ---------- stream: puts tuples of a sort into leaf pages ---------- */

/*
 * The tuples of a call are those from one position of the sort to another.
 *
 * Tuples come from all over memory, so cache misses take the longest: a block of
 * tuples is prefetched while the block before it goes to the pages.
 */

typedef struct GpuSortStream
{
	GpuSortView view;
	bool		allequalimage;	/* as the metapage will have it */
	bool		deduplicate;	/* do equal tuples become posting lists? */
	GpuSortDedup dedup;
	GpuSortLeafBuilder leaf;
	uint64		position;		/* the first tuple of the block that is being put; all before it
								 * have been put */
} GpuSortStream;

/*
 * Begins, in the current context.  An index whose build enforces uniqueness gets no posting
 * lists, as in the server.
 */
extern void gpusort_stream_begin(GpuSortStream *stream, const GpuSortIndexTarget *target,
								 const GpuSortLeafSink *sink);

/* Takes tuples from this view, to which positions refer from now on. */
extern void gpusort_stream_open_view(GpuSortStream *stream, const GpuSortView *view);

/* Lets go of the view's tuples, which the caller may free then. */
extern void gpusort_stream_close_view(GpuSortStream *stream);

/*
 * Appends the tuples at positions from .. to - 1, which follow those of the call
 * before.  Raises the server's error if a tuple is too large for a btree page.
 */
extern void gpusort_stream_put(GpuSortStream *stream, uint64 from, uint64 to);

/*
 * End the stream: with the last tuple of the index, or before `next`, the first tuple of the next
 * slice.
 */
extern void gpusort_stream_finish(GpuSortStream *stream);
extern void gpusort_stream_end_before(GpuSortStream *stream, IndexTuple next);

/* ---------- cuts: where a sorted order is cut into slices ---------- */

/*
 * Each slice is written by one participant.  Cuts are computed from the view alone, with the
 * same result in every process.
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

/* ---------- slice writer: one process's part in writing an index ---------- */

/*
 * It makes leaf pages of slices of the sorted order, and writes them to the file.
 *
 * Pages are linked and written as they are completed, many at a time.  Their blocks are known by
 * then.  A slice's first and last block are set aside before the slice before it is written, and
 * with them as many blocks between as the slice is sure to need.  So the pages on both sides of
 * a cut know each other's blocks although neither page exists, and a slice's pages lie side by
 * side but for those that could not be foreseen.
 */

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

/* ---------- levels: builds the levels above the leaves, bottom up ---------- */

/*
 * Each level has one open page, which its next downlink is added to.  When the
 * open page is full it gets a right sibling, which becomes the open page, and its
 * own downlink is added to the level above, which is begun if need be.  All pages
 * to the left of the open one are complete, so memory is a page or two for each
 * level however large the index.
 *
 * Pages are filled to 70 %, nbtree's fixed fillfactor for internal pages.  The first
 * tuple of a page has no key: it stands for minus infinity.  The key that it had
 * becomes the left sibling's high key and the key of the page's own downlink.
 */

/* Far more than the 2^32 blocks of a relation can need, at 3 tuples a page. */
#define GPUSORT_MAX_LEVELS	32

typedef struct GpuSortLevel GpuSortLevel;

typedef struct GpuSortLevels
{
	GpuSortStorage *storage;
	int			height;			/* number of levels begun; level 1 is above the leaves */
	GpuSortLevel *level[GPUSORT_MAX_LEVELS];
} GpuSortLevels;

/* Begins with no levels. */
extern void gpusort_levels_begin(GpuSortLevels *levels, GpuSortStorage *storage);

/*
 * Adds the downlink to a leaf; leaves come in order.  low_key is a pivot tuple with the leaf's low
 * key, whose downlink is set here.
 */
extern void gpusort_levels_add(GpuSortLevels *levels, IndexTuple low_key, BlockNumber leaf);

/*
 * Completes the open pages.  Returns the root's block and sets *height to its
 * level.  At least one downlink must have been added.
 */
extern BlockNumber gpusort_levels_finish(GpuSortLevels *levels, uint32 *height);

/* Writes the metapage, for a root of level `height`. */
extern void gpusort_levels_write_metapage(GpuSortLevels *levels, BlockNumber root, uint32 height,
										  bool allequalimage);

#endif							/* GPUSORT_BTREE_H */
