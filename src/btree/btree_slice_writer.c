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
 * Give blocks to the pages that have none: those set aside, and when they are used
 * up new ones.
 */
static void
give_blocks(GpuSortSliceWriter *writer, bool last)
{
	const GpuSortSlice *slice = &writer->slice;
	int			end = last ? writer->npages - 1 : writer->npages;
	int			i = writer->nblocks;

	if (!writer->begun)
		writer->blocks[i++] = slice->first;
	writer->begun = true;
	while (i < end && writer->next_block < slice->last)
		writer->blocks[i++] = writer->next_block++;
	if (i < end)
	{
		BlockNumber block = gpusort_storage_claim(writer->storage, end - i);

		while (i < end)
			writer->blocks[i++] = block++;
	}
	if (last)
	{
		/* what was set aside must be used, and the ends are two pages */
		if (i != end || writer->next_block != slice->last)
			elog(ERROR, "slice %u of an index has fewer pages than were foreseen", slice->number);
		writer->blocks[i] = slice->last;
	}
	writer->nblocks = writer->npages;
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
 * Link and write the pages so far.  The newest one has to wait for the next one's
 * block, unless it is the slice's last.
 */
static void
put_pages(GpuSortSliceWriter *writer, bool last)
{
	int			count = last ? writer->npages : writer->npages - 1;
	BlockNumber *blocks = writer->blocks;

	give_blocks(writer, last);
	for (int i = 0; i < count; i++)
	{
		BlockNumber right = i + 1 < writer->npages ? blocks[i + 1] : writer->slice.right;

		gpusort_page_link(writer->pages[i], writer->left, right);
		note_page(writer, writer->pages[i], blocks[i]);
		gpusort_storage_put_page(writer->storage, blocks[i], writer->pages[i]);
		writer->left = blocks[i];
	}
	writer->pages[0] = writer->pages[count];
	blocks[0] = blocks[count];
	writer->npages -= count;
	writer->nblocks = writer->npages;
}

/* Send what was noted; notes of complete slices come when their pages are written. */
static void
send_notes(GpuSortSliceWriter *writer, bool last)
{
	GpuSortSliceNotes *notes = (GpuSortSliceNotes *) writer->notes.data;
	uint64		position;

	notes->slice = writer->slice.number;
	notes->last = last;
	if (last)
		gpusort_storage_flush(writer->storage);
	position = last ? writer->slice.to : writer->stream.position;
	notes->ntuples = position - writer->noted;
	writer->noted = position;
	writer->send(writer->send_arg, notes, writer->notes.len);

	memset(writer->notes.data, 0, sizeof(GpuSortSliceNotes));
	writer->notes.len = sizeof(GpuSortSliceNotes);
}

static void
put_page(void *arg, char *page, IndexTuple low_key, bool last)
{
	GpuSortSliceWriter *writer = arg;

	writer->pages[writer->npages++] = page;
	if (!last && writer->npages < GPUSORT_SLICE_BATCH)
		return;
	put_pages(writer, last);
	send_notes(writer, last);
}

void
gpusort_slice_writer_begin(GpuSortSliceWriter *writer, const GpuSortView *view, const GpuSortIndexBuild *build,
						   GpuSortStorage *storage)
{
	GpuSortLeafSink sink = {.arg = writer, .get_page = get_page, .put_page = put_page};

	memset(writer, 0, sizeof(*writer));
	writer->storage = storage;
	initStringInfo(&writer->notes);
	writer->notes.len = sizeof(GpuSortSliceNotes);
	memset(writer->notes.data, 0, sizeof(GpuSortSliceNotes));
	gpusort_stream_begin(&writer->stream, view, build->heap, build->index, build->info->ii_Unique,
						 &sink);
}

void
gpusort_slice_writer_write(GpuSortSliceWriter *writer, const GpuSortSlice *slice)
{
	writer->slice = *slice;
	writer->next_block = slice->first + 1;
	writer->noted = slice->from;
	writer->left = slice->left;
	writer->begun = false;
	writer->npages = 0;
	writer->nblocks = 0;
	gpusort_stream_put(&writer->stream, slice->from, slice->to);
	gpusort_stream_end(&writer->stream, slice->to);
}
