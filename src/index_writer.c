/*
 * index_writer.c
 *		A sorted stream of index tuples in, a complete btree index out; see
 *		index_writer.h.
 *
 *	put ──▶ index_dedup ──▶ index_leaf ──page──▶ here ──page──▶ index_storage
 *	                                              └──downlink──▶ index_levels ──page──┘
 *
 * Block 0 is the metapage, written last.  A leaf is given its block when the one
 * before is complete, on each level so, and only then does the downlink go up, which
 * may open internal pages.  So leaves lie in key order and, but for the internal
 * pages between them, side by side, and each is written once, in order; and every
 * page has the block that the server's build gives it.
 *
 * Forming leaves in several processes.  The leaf builder was cut for it: a worker
 * can run one over a slice of the sorted order into private memory, since nothing
 * in it depends on block numbers, and return the pages with their low keys.  What
 * remains is put_leaf() below and the storage, some 5 µs a page, mostly copies
 * into WAL buffers and the kernel; it has to be done in key order, slice by slice,
 * and is what gives blocks and links.  At a seam the first page of a slice lacks
 * its low key, and the last page of the slice before its high key: both come from
 * truncating between the two tuples at the seam, which lie in the sorted order for
 * either side to see.  The seam costs half a page on average, so slices of 1000
 * pages (some 350 000 int8 keys, 8 MB) keep the index within 0.05 %; cut where
 * no equal keys meet, they split no posting list.
 */
#include "postgres.h"

#include "access/nbtree.h"
#include "commands/progress.h"
#include "pgstat.h"
#include "utils/memutils.h"

#include "index_dedup.h"
#include "index_leaf.h"
#include "index_levels.h"
#include "index_storage.h"
#include "index_writer.h"
#include "pg_compat.h"

struct GpuSortIndexWriter
{
	MemoryContext context;
	Relation	index;
	bool		allequalimage;
	bool		deduplicate;
	int64		ntuples;

	IndexDedup	dedup;
	IndexLeafBuilder leaf;
	IndexLevels levels;
	IndexStorage *storage;

	BlockNumber last_leaf;		/* P_NONE: none yet */
	BlockNumber next_leaf;		/* P_NONE: has no block yet, or there is no more */
};

static char *
get_leaf(void *arg)
{
	return index_storage_get_page(((GpuSortIndexWriter *) arg)->storage);
}

static void
put_leaf(void *arg, char *page, IndexTuple low_key, bool last)
{
	GpuSortIndexWriter *writer = arg;
	BlockNumber block = writer->next_leaf;

	if (block == P_NONE)
		block = index_storage_new_block(writer->storage);
	writer->next_leaf = last ? P_NONE : index_storage_new_block(writer->storage);

	if (last && writer->last_leaf == P_NONE)
		index_page_mark_root(page);
	else
		index_levels_add(&writer->levels, low_key, block);

	index_page_link(page, writer->last_leaf, writer->next_leaf);
	index_storage_put_page(writer->storage, block, page);
	writer->last_leaf = block;
}

GpuSortIndexWriter *
gpusort_index_writer_begin(Relation heap, Relation index, bool unique)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "gpusort index writer",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);
	GpuSortIndexWriter *writer = palloc0(sizeof(GpuSortIndexWriter));
	IndexLeafSink sink = {.arg = writer, .get_page = get_leaf, .put_page = put_leaf};
	BTScanInsert scan_key = _bt_mkscankey(index, NULL);

	writer->context = context;
	writer->index = index;
	writer->allequalimage = _bt_allequalimage(index, true);
	writer->deduplicate = writer->allequalimage && !unique && BTGetDeduplicateItems(index);
	writer->last_leaf = P_NONE;
	writer->next_leaf = P_NONE;

	scan_key->allequalimage = writer->allequalimage;
	writer->storage = index_storage_begin(index);
	(void) index_storage_new_block(writer->storage);	/* metapage */
	index_levels_begin(&writer->levels, writer->storage);
	index_leaf_begin(&writer->leaf, heap, index, scan_key, &sink);
	index_dedup_begin(&writer->dedup, &writer->leaf);

	MemoryContextSwitchTo(caller);
	return writer;
}

static void
put_all(GpuSortIndexWriter *writer, IndexTuple *tuples, int ntuples)
{
	for (int i = 0; i < ntuples; i++)
		index_leaf_add(&writer->leaf, tuples[i]);
}

static void
put_deduplicated(GpuSortIndexWriter *writer, IndexTuple *tuples, int ntuples,
				 const uint64 *equal, uint64 first)
{
	IndexDedup *dedup = &writer->dedup;

	for (int i = 0; i < ntuples; i++)
	{
		uint64		bit = first + i;

		index_dedup_add(dedup, tuples[i], (equal[bit / 64] >> (bit % 64)) & 1);
	}
	index_dedup_hold(dedup);
}

void
gpusort_index_writer_put(GpuSortIndexWriter *writer, IndexTuple *tuples, int ntuples,
						 const uint64 *equal, uint64 first)
{
	MemoryContext caller = MemoryContextSwitchTo(writer->context);

	if (writer->deduplicate)
		put_deduplicated(writer, tuples, ntuples, equal, first);
	else
		put_all(writer, tuples, ntuples);
	MemoryContextSwitchTo(caller);

	writer->ntuples += ntuples;
	pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_DONE, writer->ntuples);
}

void
gpusort_index_writer_finish(GpuSortIndexWriter *writer)
{
	MemoryContext caller = MemoryContextSwitchTo(writer->context);
	char	   *metapage;
	BlockNumber root;
	uint32		height = 0;

	index_dedup_flush(&writer->dedup);
	index_leaf_finish(&writer->leaf);
	root = writer->last_leaf;
	if (writer->levels.height > 0)
		root = index_levels_finish(&writer->levels, &height);

	metapage = index_storage_get_page(writer->storage);
	_bt_initmetapage((Page) metapage, root, height, writer->allequalimage);
	index_storage_put_page(writer->storage, BTREE_METAPAGE, metapage);
	index_storage_finish(writer->storage);

	MemoryContextSwitchTo(caller);
	MemoryContextDelete(writer->context);
}
