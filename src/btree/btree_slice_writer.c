/*
 * btree_slice_writer.c
 *		One process's part in writing an index; see btree_slice_writer.h.
 */
#include "postgres.h"

#include "access/nbtree.h"
#include "miscadmin.h"

#include "btree/btree_slice_writer.h"

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
