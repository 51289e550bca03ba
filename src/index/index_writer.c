/*
 * index_writer.c
 *		Writes a complete btree index from a sorted stream of index tuples; see
 *		index_write_private.h.
 *
 *	sort ──▶ btree_leaf ────page──▶ here ──page──▶ btree_storage
 *	                                 └──downlink──▶ btree_levels ──page──┘
 *
 * This is how one process writes an index; index_slices.c is how several do.
 *
 * Block 0 is the metapage, which is written last.  When a leaf is complete, first the next leaf
 * gets its block number, and only then does the complete leaf's downlink go up, which may open
 * internal pages; each level above works in the same way.  So leaves lie in key order and, but for
 * the internal pages between them, side by side; each is written once, in order; and every page has
 * the block number that the server's build gives it.
 */
#include "postgres.h"

#include "access/nbtree.h"
#include "miscadmin.h"

#include "btree/btree.h"
#include "index/index_build_private.h"
#include "index/index_write_private.h"
#include "table/storage.h"

/* Number of tuples after which progress is reported. */
#define PROGRESS_STEP	8192

struct GpuSortIndexWriter
{
	GpuSortStream stream;
	GpuSortLevels levels;
	GpuSortStorage *storage;
	GpuSort    *sort;			/* whose rows are written */
	BlockNumber last_leaf;		/* P_NONE if there is none yet */
	BlockNumber next_leaf;		/* P_NONE if it has no block yet, or there is no next leaf */
	uint64		tuples;			/* tuples put so far */
};

/* A GpuSortLeafSink's get_page: returns a page to be filled. */
static char *
get_leaf(void *arg)
{
	return gpusort_storage_get_page(((GpuSortIndexWriter *) arg)->storage);
}

/*
 * A GpuSortLeafSink's put_page: writes a leaf into its block, and adds its downlink to the level
 * above or, if it is the only leaf, makes it the root.
 */
static void
put_leaf(void *arg, char *page, IndexTuple low_key, bool last)
{
	GpuSortIndexWriter *writer = arg;
	BlockNumber block = writer->next_leaf;

	if (block == P_NONE)
		block = gpusort_storage_new_block(writer->storage);
	writer->next_leaf = last ? P_NONE : gpusort_storage_new_block(writer->storage);

	if (last && writer->last_leaf == P_NONE)
		gpusort_page_mark_root(page);
	else
		gpusort_levels_add(&writer->levels, low_key, block);

	gpusort_page_link(page, writer->last_leaf, writer->next_leaf);
	gpusort_storage_put_page(writer->storage, block, page);
	writer->last_leaf = block;
}

GpuSortIndexWriter *
gpusort_index_writer_begin(const GpuSortIndexTarget *target, GpuSort *sort)
{
	GpuSortIndexWriter *writer = palloc0(sizeof(GpuSortIndexWriter));
	GpuSortLeafSink sink = {.arg = writer, .get_page = get_leaf, .put_page = put_leaf};

	writer->sort = sort;
	writer->last_leaf = P_NONE;
	writer->next_leaf = P_NONE;
	writer->storage = gpusort_storage_begin(target->index);
	(void) gpusort_storage_new_block(writer->storage);	/* metapage */
	gpusort_levels_begin(&writer->levels, writer->storage);
	gpusort_stream_begin(&writer->stream, target, &sink);
	return writer;
}

void
gpusort_index_writer_put(GpuSortIndexWriter *writer, const GpuSortView *view)
{
	GpuSortStream *stream = &writer->stream;

	gpusort_stream_open_view(stream, view);
	for (uint64 from = 0; from < view->nrows; from += PROGRESS_STEP)
	{
		uint64		to = Min(from + PROGRESS_STEP, view->nrows);

		CHECK_FOR_INTERRUPTS();
		gpusort_stream_put(stream, from, to);
		gpusort_progress_tuples(writer->tuples + to);
		gpusort_show_returned(writer->sort, writer->tuples + to);
	}
	gpusort_stream_close_view(stream);
	writer->tuples += view->nrows;
}

void
gpusort_index_writer_finish(GpuSortIndexWriter *writer)
{
	BlockNumber root;
	uint32		height = 0;

	gpusort_stream_finish(&writer->stream);
	root = writer->last_leaf;
	if (writer->levels.height > 0)
		root = gpusort_levels_finish(&writer->levels, &height);
	gpusort_levels_write_metapage(&writer->levels, root, height, writer->stream.allequalimage);
	gpusort_storage_finish(writer->storage);
}
