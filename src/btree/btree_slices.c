/*
 * btree_slices.c
 *		Cuts a sorted order into slices, and writes these as one process's part in writing an
 *		index; see btree.h.
 */
#include "postgres.h"

#include "access/nbtree.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"

#include "btree/btree.h"

/* ---------- cuts ---------- */

/* Bytes that a leaf page has for tuples and the high key, with their line pointers. */
#define PAGE_BYTES \
	(BLCKSZ - SizeOfPageHeaderData - MAXALIGN(sizeof(BTPageOpaqueData)))

/* Bytes that the smallest possible tuple takes, with its line pointer. */
#define MIN_TUPLE_BYTES	(MAXALIGN(sizeof(IndexTupleData) + 1) + sizeof(ItemIdData))

/*
 * The most pages of a slice that ends where a page ends, and so costs no space.  With fewer pages,
 * participants would ask for slices too often.
 */
#define EXACT_SLICE_PAGES	256

/* How many tuples are looked at to tell how long tuples are. */
#define SAMPLE			1024

/* Returns how many rows at positions from .. to - 1 are equal to the row before. */
static uint64
count_equal(const GpuSortView *view, uint64 from, uint64 to)
{
	uint64		count = 0;

	for (; from < to && from % 64 != 0; from++)
		count += gpusort_view_is_equal(view, from);
	for (; from + 64 <= to; from += 64)
		count += pg_popcount64(view->equal[from / 64]);
	for (; from < to; from++)
		count += gpusort_view_is_equal(view, from);
	return count;
}

/*
 * Returns how many bytes of pages the rows at positions from .. to - 1 take.  A row that becomes
 * part of a posting list takes a TID, any other row tuple_bytes.
 */
static uint64
rows_bytes(const GpuSortStream *stream, uint64 from, uint64 to, size_t tuple_bytes)
{
	uint64		equal = stream->deduplicate ? count_equal(&stream->view, from, to) : 0;

	return (to - from - equal) * tuple_bytes + equal * sizeof(ItemPointerData);
}

/* Returns the average length of tuples, as far as a sample tells. */
static size_t
average_bytes(const GpuSortView *view)
{
	uint64		count = Min(view->nrows, SAMPLE);
	uint64		bytes = 0;

	for (uint64 i = 0; i < count; i++)
		bytes += IndexTupleSize((IndexTuple) gpusort_view_row(view, i * (view->nrows / count)));
	return bytes / count;
}

void
gpusort_slice_cuts_make(GpuSortSliceCuts *cuts, const GpuSortStream *stream, int slice_pages)
{
	const GpuSortView *view = &stream->view;
	uint64		nrows = view->nrows;
	uint64		bytes = rows_bytes(stream, 0, nrows, average_bytes(view) + sizeof(ItemIdData));
	uint64		pages = bytes / (PAGE_BYTES - stream->leaf.min_space) + 1;
	uint64		unit = 1;

	cuts->nrows = nrows;
	cuts->page_rows = 0;
	cuts->slice_rows = Max(nrows / pages, 1) * slice_pages;
	if (view->tuple_bytes > 0 && view->tuple_bytes <= GPUSORT_PAGE_MAX_TUPLE &&
		!(stream->deduplicate && count_equal(view, 0, nrows) > 0))
	{
		unit = cuts->page_rows =
			gpusort_btree_leaf_tuples_per_page(&stream->leaf, view->tuple_bytes);
		cuts->slice_rows = (uint64) Min(slice_pages, EXACT_SLICE_PAGES) * cuts->page_rows;
	}
	cuts->slice_rows = Max(cuts->slice_rows, GPUSORT_SLICE_MIN_ROWS);
	cuts->slice_rows = (cuts->slice_rows + unit - 1) / unit * unit;
	cuts->nslices = Max(nrows / cuts->slice_rows, 1);
}

/* Returns the first position of the run of equal rows that has the row at `position`. */
static uint64
run_start(const GpuSortView *view, uint64 position)
{
	while (position > 0 && gpusort_view_is_equal(view, position))
		if (position % 64 == 63 && view->equal[position / 64] == PG_UINT64_MAX)
			position -= 64;
		else
			position--;
	return position;
}

uint64
gpusort_slice_cuts_start(const GpuSortSliceCuts *cuts, const GpuSortStream *stream, uint32 slice)
{
	uint64		position = slice * cuts->slice_rows;
	uint64		start;
	IndexTuple	first;

	if (slice == cuts->nslices)
		return cuts->nrows;
	if (!stream->deduplicate || !gpusort_view_is_equal(&stream->view, position))
		return position;
	start = run_start(&stream->view, position);
	first = gpusort_view_row(&stream->view, start);
	return position - (position - start) % gpusort_dedup_max_tids(first);
}

uint32
gpusort_slice_min_pages(const GpuSortStream *stream, uint64 from, uint64 to)
{
	uint64		bytes = rows_bytes(stream, from, to, MIN_TUPLE_BYTES);

	return (bytes + PAGE_BYTES - 1) / PAGE_BYTES;
}

uint32
gpusort_slice_cuts_min_pages(const GpuSortSliceCuts *cuts, const GpuSortStream *stream,
							 uint32 slice)
{
	uint64		from = gpusort_slice_cuts_start(cuts, stream, slice);
	uint64		to = gpusort_slice_cuts_start(cuts, stream, slice + 1);

	if (cuts->page_rows > 0)
	{
		/* the index's last page may have one tuple more, which turns no page */
		uint64		rows = to == cuts->nrows ? to - from - 1 : to - from;

		return (rows + cuts->page_rows - 1) / cuts->page_rows;
	}
	return gpusort_slice_min_pages(stream, from, to);
}

/* ---------- the slice writer ---------- */

static char *
get_page(void *arg)
{
	return gpusort_storage_get_page(((GpuSortSliceWriter *) arg)->storage);
}

/*
 * Gives blocks to the pages that have none: first the blocks that were set aside, then
 * new ones.  `last`: the batch ends with the slice's last page.
 */
static void
give_blocks(GpuSortSliceWriter *writer, bool last)
{
	GpuSortSlice *slice = &writer->slice;
	GpuSortPageBatch *batch = &writer->batch;
	int			end = last ? batch->npages - 1 : batch->npages;
	int			i = batch->nblocks;

	if (!writer->begun)
		batch->blocks[i++] = slice->first;
	writer->begun = true;
	while (i < end && slice->middle < slice->middle_end)
		batch->blocks[i++] = slice->middle++;
	if (i < end)
	{
		BlockNumber block = gpusort_storage_claim(writer->storage, end - i);

		while (i < end)
			batch->blocks[i++] = block++;
	}
	if (last)
	{
		/* all blocks that were set aside must be used, and the last page must not be the first */
		if (i != end || slice->middle != slice->middle_end)
			elog(ERROR, "slice %u of an index has fewer pages than were foreseen", slice->number);
		batch->blocks[i] = slice->last;
	}
	batch->nblocks = batch->npages;
}

static void
note_page(GpuSortSliceWriter *writer, char *page, BlockNumber block)
{
	StringInfo	notes = &writer->notes;
	GpuSortSliceNote note = {.block = block};
	IndexTuple	high_key = NULL;

	if (!P_RIGHTMOST(BTPageGetOpaque((Page) page)))
	{
		high_key = (IndexTuple) PageGetItem((Page) page, PageGetItemId((Page) page, P_HIKEY));
		note.high_key_bytes = MAXALIGN(IndexTupleSize(high_key));
	}
	appendBinaryStringInfo(notes, (char *) &note, sizeof(note));
	if (high_key != NULL)
		appendBinaryStringInfo(notes, (char *) high_key, note.high_key_bytes);
	((GpuSortSliceNotes *) notes->data)->npages++;
}

/*
 * Links and writes the pages of the batch.  The newest page has to wait for the block
 * of the page behind it, unless it is the slice's last.
 */
static void
put_pages(GpuSortSliceWriter *writer, bool last)
{
	GpuSortPageBatch *batch = &writer->batch;
	BlockNumber *blocks = batch->blocks;
	int			count = last ? batch->npages : batch->npages - 1;

	give_blocks(writer, last);
	for (int i = 0; i < count; i++)
	{
		BlockNumber right = i + 1 < batch->npages ? blocks[i + 1] : writer->slice.right;

		gpusort_page_link(batch->pages[i], batch->left, right);
		note_page(writer, batch->pages[i], blocks[i]);
		gpusort_storage_put_page(writer->storage, blocks[i], batch->pages[i]);
		batch->left = blocks[i];
	}
	if (count < batch->npages)
	{
		batch->pages[0] = batch->pages[count];
		blocks[0] = blocks[count];
	}
	batch->npages -= count;
	batch->nblocks = batch->npages;
}

static void
begin_notes(GpuSortSliceWriter *writer)
{
	memset(writer->notes.data, 0, sizeof(GpuSortSliceNotes));
	writer->notes.len = sizeof(GpuSortSliceNotes);
}

/* Sends the notes.  The last notes of a slice are sent when its pages are written. */
static void
send_notes(GpuSortSliceWriter *writer, bool last)
{
	GpuSortSliceNotes *notes = (GpuSortSliceNotes *) writer->notes.data;
	uint64		position;

	notes->slice = writer->slice.number;
	notes->last = last;
	if (last)
		gpusort_storage_flush(writer->storage);
	position = last ? writer->slice.to : writer->view_first + writer->stream.position;
	notes->ntuples = position - writer->noted;
	writer->noted = position;
	writer->sink.send(writer->sink.arg, notes, writer->notes.len);
	begin_notes(writer);
}

/* The leaf builder's put_page(): adds a page to the batch. */
static void
put_page(void *arg, char *page, IndexTuple low_key, bool last)
{
	GpuSortSliceWriter *writer = arg;
	GpuSortPageBatch *batch = &writer->batch;

	batch->pages[batch->npages++] = page;
	if (!last && batch->npages < GPUSORT_SLICE_BATCH)
		return;
	put_pages(writer, last);
	send_notes(writer, last);
}

void
gpusort_slice_writer_begin(GpuSortSliceWriter *writer, const GpuSortIndexTarget *target,
						   GpuSortStorage *storage, const GpuSortNoteSink *sink)
{
	GpuSortLeafSink pages = {.arg = writer, .get_page = get_page, .put_page = put_page};

	memset(writer, 0, sizeof(*writer));
	writer->storage = storage;
	writer->sink = *sink;
	initStringInfo(&writer->notes);
	begin_notes(writer);
	gpusort_stream_begin(&writer->stream, target, &pages);
}

void
gpusort_slice_writer_open_view(GpuSortSliceWriter *writer, const GpuSortView *view, uint64 first)
{
	gpusort_stream_open_view(&writer->stream, view);
	writer->view_first = first;
}

void
gpusort_slice_writer_start(GpuSortSliceWriter *writer, const GpuSortSlice *slice)
{
	writer->slice = *slice;
	writer->noted = slice->from;
	writer->begun = false;
	writer->batch.npages = 0;
	writer->batch.nblocks = 0;
	writer->batch.left = slice->left;
}

void
gpusort_slice_writer_put(GpuSortSliceWriter *writer, uint64 from, uint64 to)
{
	gpusort_stream_put(&writer->stream, from - writer->view_first, to - writer->view_first);
	/* the caller may free the view's tuples when all have been put */
	if (to - writer->view_first == writer->stream.view.nrows)
		gpusort_stream_close_view(&writer->stream);
}

void
gpusort_slice_writer_end(GpuSortSliceWriter *writer, IndexTuple next)
{
	if (next == NULL)
		gpusort_stream_finish(&writer->stream);
	else
		gpusort_stream_end_before(&writer->stream, next);
}
