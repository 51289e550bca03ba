/*
 * slice_writer.c
 *		One process's part in writing an index; see slice_writer.h.
 */
#include "postgres.h"

#include "access/nbtree.h"
#include "miscadmin.h"

#include "btree/slice_writer.h"

static char *
get_page(void *arg)
{
	return index_storage_get_page(((SliceWriter *) arg)->storage);
}

/*
 * Give blocks to the pages that have none: those set aside, and when they are used
 * up new ones.
 */
static void
give_blocks(SliceWriter *writer, bool last)
{
	const Slice *slice = &writer->slice;
	int			end = last ? writer->npages - 1 : writer->npages;
	int			i = writer->nblocks;

	if (!writer->begun)
		writer->blocks[i++] = slice->first;
	writer->begun = true;
	while (i < end && writer->next_block < slice->last)
		writer->blocks[i++] = writer->next_block++;
	if (i < end)
	{
		BlockNumber block = index_storage_claim(writer->storage, end - i);

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
note_page(SliceWriter *writer, char *page, BlockNumber block)
{
	StringInfo	notes = &writer->notes;
	SliceNote	note = {.block = block};
	IndexTuple	high_key = NULL;

	if (!P_RIGHTMOST(BTPageGetOpaque((Page) page)))
	{
		high_key = (IndexTuple) PageGetItem((Page) page, PageGetItemId((Page) page, P_HIKEY));
		note.high_key_bytes = MAXALIGN(IndexTupleSize(high_key));
	}
	appendBinaryStringInfo(notes, (char *) &note, sizeof(note));
	if (high_key != NULL)
		appendBinaryStringInfo(notes, (char *) high_key, note.high_key_bytes);
	((SliceNotes *) notes->data)->npages++;
}

/*
 * Link and write the pages so far.  The newest one has to wait for the next one's
 * block, unless it is the slice's last.
 */
static void
put_pages(SliceWriter *writer, bool last)
{
	int			count = last ? writer->npages : writer->npages - 1;
	BlockNumber *blocks = writer->blocks;

	give_blocks(writer, last);
	for (int i = 0; i < count; i++)
	{
		BlockNumber right = i + 1 < writer->npages ? blocks[i + 1] : writer->slice.right;

		index_page_link(writer->pages[i], writer->left, right);
		note_page(writer, writer->pages[i], blocks[i]);
		index_storage_put_page(writer->storage, blocks[i], writer->pages[i]);
		writer->left = blocks[i];
	}
	writer->pages[0] = writer->pages[count];
	blocks[0] = blocks[count];
	writer->npages -= count;
	writer->nblocks = writer->npages;
}

/* Send what was noted; notes of complete slices come when their pages are written. */
static void
send_notes(SliceWriter *writer, bool last)
{
	SliceNotes *notes = (SliceNotes *) writer->notes.data;
	uint64		position;

	notes->slice = writer->slice.number;
	notes->last = last;
	if (last)
		index_storage_flush(writer->storage);
	position = last ? writer->slice.to : writer->stream.position;
	notes->ntuples = position - writer->noted;
	writer->noted = position;
	writer->send(writer->send_arg, notes, writer->notes.len);

	memset(writer->notes.data, 0, sizeof(SliceNotes));
	writer->notes.len = sizeof(SliceNotes);
}

static void
put_page(void *arg, char *page, IndexTuple low_key, bool last)
{
	SliceWriter *writer = arg;

	writer->pages[writer->npages++] = page;
	if (!last && writer->npages < SLICE_BATCH)
		return;
	put_pages(writer, last);
	send_notes(writer, last);
}

void
slice_writer_begin(SliceWriter *writer, const GpuSortView *view, const GpuSortIndexBuild *build,
				   IndexStorage *storage)
{
	IndexLeafSink sink = {.arg = writer, .get_page = get_page, .put_page = put_page};

	memset(writer, 0, sizeof(*writer));
	writer->storage = storage;
	initStringInfo(&writer->notes);
	writer->notes.len = sizeof(SliceNotes);
	memset(writer->notes.data, 0, sizeof(SliceNotes));
	index_stream_begin(&writer->stream, view, build->heap, build->index, build->info->ii_Unique,
					   &sink);
}

void
slice_writer_write(SliceWriter *writer, const Slice *slice)
{
	writer->slice = *slice;
	writer->next_block = slice->first + 1;
	writer->noted = slice->from;
	writer->left = slice->left;
	writer->begun = false;
	writer->npages = 0;
	writer->nblocks = 0;
	index_stream_put(&writer->stream, slice->from, slice->to);
	index_stream_end(&writer->stream, slice->to);
}
