/*
 * leaf_reader.c
 *		Reading the leaf pages of a btree; see leaves_private.h.
 *
 * The rules are those of the server's forward scans (access/nbtree/README):
 *
 * - A page is read while it is locked, together with its right link, which is followed whatever
 *   happens to the page afterwards.  Rows that a split moves right meanwhile have been read.  Pages
 *   that are deleted or half-dead have nothing but that link.  No page that a link leads to is
 *   recycled while our snapshot is held.
 * - The page stays pinned until it is known which of its rows the snapshot sees.  VACUUM removes
 *   items only from pages that nobody has pinned.  So the TIDs of a pinned page's items can't have
 *   been given to other rows, on a table page that is all-visible by then.
 * - The visibility map is looked at after the page was read.  A row that came later, which the
 *   snapshot does not see, has cleared its page's bit before it got into the index.
 *
 * The way down goes by words as well.  The first column of a pivot tuple is enough to tell that a
 * word can't be found left of it.  A page whose high key is below the words that are wanted is
 * passed by.  There may be many such pages, so the next page is then found from the root on.  That
 * page is further right, since no page's high key ever moves right.
 */
#include "postgres.h"

#include "access/nbtree.h"
#include "access/xact.h"
#include "catalog/pg_index.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "leaves/leaves_private.h"
#include "pg_compat.h"
#include "pg_compat/executor.h"
#include "pg_compat/tables.h"

GpuSortLeafPage *
gpusort_make_leaf_page(void)
{
	GpuSortLeafPage *page = palloc(sizeof(GpuSortLeafPage));

	page->page = palloc(BLCKSZ);
	page->nitems = 0;
	return page;
}

void
gpusort_begin_leaf_reader(GpuSortLeafReader *reader, Relation heap, Relation index,
						  Snapshot snapshot, TupleTableSlot *table_slot)
{
	bool		descends = (index->rd_indoption[0] & INDOPTION_DESC) != 0;
	Oid			sortop = get_opfamily_member(index->rd_opfamily[0], index->rd_opcintype[0],
											 index->rd_opcintype[0],
											 descends ? BTGreaterStrategyNumber :
											 BTLessStrategyNumber);

	reader->heap = heap;
	reader->index = index;
	reader->snapshot = snapshot;
	reader->table_slot = table_slot;
	reader->nulls_first = (index->rd_indoption[0] & INDOPTION_NULLS_FIRST) != 0;
	/*
	 * On a standby, items may have been marked dead by the primary, whose snapshots are newer than
	 * ours.
	 */
	reader->skips_killed = !TransactionStartedDuringRecovery();
	reader->page = gpusort_make_leaf_page();
	reader->other = gpusort_make_leaf_page();
	reader->fetch = gpusort_index_fetch_begin(heap);
	gpusort_table_map_begin(&reader->map, heap);
	reader->scratch = AllocSetContextCreate(CurrentMemoryContext, "GpuSort index keys",
											ALLOCSET_SMALL_SIZES);
	gpusort_begin_first_word(&reader->word, sortop, index->rd_opcintype[0],
							 index->rd_indcollation[0]);
	reader->next = P_NONE;
	reader->nfetches = 0;
}

void
gpusort_end_leaf_reader(GpuSortLeafReader *reader)
{
	if (reader->fetch != NULL)
		table_index_fetch_end(reader->fetch);
	reader->fetch = NULL;
	gpusort_table_map_end(&reader->map);
	reader->next = P_NONE;
}

/* ---------- words ---------- */

/* Makes the word of an item's first column; returns false if that is null. */
static pg_always_inline bool
word_of_item(GpuSortLeafReader *reader, IndexTuple item, uint64 *word)
{
	bool		isnull;
	Datum		value = index_getattr(item, 1, RelationGetDescr(reader->index), &isnull);

	if (isnull)
		return false;
	switch (reader->word.integer_bytes)
	{
		case 8:
			*word = word_from_int64(DatumGetInt64(value)) ^ reader->word.flip;
			break;
		case 4:
			*word = word_from_int64(DatumGetInt32(value)) ^ reader->word.flip;
			break;
		default:
			*word = gpusort_first_word(&reader->word, value);
	}
	return true;
}

/*
 * Returns whether the item at an offset is below a word in the order of the index.  If the item is
 * a pivot tuple, all that lies left of it is below the word, too.
 */
static bool
is_below(GpuSortLeafReader *reader, Page page, OffsetNumber offset, uint64 word)
{
	IndexTuple	pivot = (IndexTuple) PageGetItem(page, PageGetItemId(page, offset));
	uint64		other;

	if (BTreeTupleGetNAtts(pivot, reader->index) == 0)
		return true;			/* minus infinity */
	if (!word_of_item(reader, pivot, &other))
		return reader->nulls_first;
	return other < word;
}

/* ---------- the way down ---------- */

/* Returns a page of the index, pinned and share-locked. */
static Buffer
read_block(GpuSortLeafReader *reader, BlockNumber block)
{
	Buffer		buffer = ReadBuffer(reader->index, block);

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	_bt_checkpage(reader->index, buffer);
	return buffer;
}

/*
 * Returns the root's block, or P_NONE if the index is empty.  The root is never deleted; after a
 * split it is the first page of its level.
 */
static BlockNumber
find_root(GpuSortLeafReader *reader)
{
	Buffer		buffer = read_block(reader, BTREE_METAPAGE);
	const BTMetaPageData *meta = BTPageGetMeta(BufferGetPage(buffer));
	BlockNumber root = meta->btm_root;

	if (meta->btm_magic != BTREE_MAGIC || meta->btm_version < BTREE_MIN_VERSION ||
		meta->btm_version > BTREE_VERSION)
		ereport(ERROR,
				(errcode(ERRCODE_INDEX_CORRUPTED),
				 errmsg("index \"%s\" is not a btree", RelationGetRelationName(reader->index))));
	UnlockReleaseBuffer(buffer);
	return root;
}

/*
 * Returns the offset of the last item from low to high that is below a word; the item at low is
 * taken to be below it.
 */
static OffsetNumber
last_below(GpuSortLeafReader *reader, Page page, OffsetNumber low, OffsetNumber high, uint64 word)
{
	while (low < high)
	{
		OffsetNumber middle = low + (high - low + 1) / 2;

		if (is_below(reader, page, middle, word))
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

/*
 * Returns the last downlink of an inner page whose key is below a word: rows with that word may lie
 * between its key and the next one's.
 */
static BlockNumber
find_downlink(GpuSortLeafReader *reader, Page page, uint64 word)
{
	OffsetNumber first = P_FIRSTDATAKEY(BTPageGetOpaque(page));
	OffsetNumber last = PageGetMaxOffsetNumber(page);
	OffsetNumber below;

	if (last < first)
		ereport(ERROR,
				(errcode(ERRCODE_INDEX_CORRUPTED),
				 errmsg("inner page of index \"%s\" has no downlinks",
						RelationGetRelationName(reader->index))));
	/* the first downlink is minus infinity, whatever its tuple says */
	below = last_below(reader, page, first, last, word);
	return BTreeTupleGetDownLink((IndexTuple) PageGetItem(page, PageGetItemId(page, below)));
}

/*
 * Returns the leaf page that all rows with this word or a greater one are on or to the right of;
 * P_NONE if the index is empty.
 */
static BlockNumber
find_leaf(GpuSortLeafReader *reader, uint64 word)
{
	BlockNumber block = find_root(reader);

	while (block != P_NONE)
	{
		Buffer		buffer = read_block(reader, block);
		Page		page = BufferGetPage(buffer);
		BTPageOpaque opaque = BTPageGetOpaque(page);
		BlockNumber following;

		gpusort_test_for_old_snapshot(reader->snapshot, reader->index, page);
		if (P_IGNORE(opaque) || (!P_RIGHTMOST(opaque) && is_below(reader, page, P_HIKEY, word)))
			following = opaque->btpo_next;
		else if (P_ISLEAF(opaque))
			following = P_NONE;
		else
			following = find_downlink(reader, page, word);
		UnlockReleaseBuffer(buffer);
		if (following == P_NONE)
			break;
		block = following;
	}
	return block;
}

void
gpusort_seek_leaf(GpuSortLeafReader *reader, uint64 from, uint64 to, bool has_end)
{
	reader->from = from;
	reader->to = to;
	reader->has_end = has_end;
	reader->last = 0;
	reader->descends = true;
	reader->page->nitems = reader->other->nitems = 0;
	pgstat_count_index_scan(reader->index);
}

/* ---------- what the snapshot sees ---------- */

/* Asks the table whether the snapshot sees a row. */
static bool
is_row_visible(GpuSortLeafReader *reader, ItemPointer tid)
{
	bool		again = false;
	bool		found;

	found = table_index_fetch_tuple(reader->fetch, tid, reader->snapshot, reader->table_slot,
									&again, NULL);
	ExecClearTuple(reader->table_slot);
	reader->nfetches++;
	if (found)
		pgstat_count_heap_fetch(reader->heap);
	return found;
}

/*
 * Returns how many of these rows the snapshot sees.  *block is the table's block that the
 * visibility map was last asked about, and *all_visible its answer.
 */
static pg_always_inline int
count_visible(GpuSortLeafReader *reader, ItemPointer tids, int ntids, BlockNumber *block,
			  bool *all_visible)
{
	int			nvisible = 0;

	for (int i = 0; i < ntids; i++)
	{
		BlockNumber row_block = ItemPointerGetBlockNumber(&tids[i]);

		if (row_block != *block)
		{
			*block = row_block;
			*all_visible = gpusort_table_map_is_all_visible(&reader->map, row_block);
		}
		nvisible += *all_visible || is_row_visible(reader, &tids[i]);
	}
	return nvisible;
}

/* ---------- pages ---------- */

/* Raises the error for words that go down: a merge would lose rows. */
static void
fail_out_of_order(const GpuSortLeafReader *reader)
{
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("items of index \"%s\" are out of order", RelationGetRelationName(reader->index)),
			 errhint("Please REINDEX it.")));
}

/*
 * Returns the offset of the page's first item that may be wanted, or the one behind its last item.
 */
static OffsetNumber
first_wanted(GpuSortLeafReader *reader, Page page)
{
	OffsetNumber first = P_FIRSTDATAKEY(BTPageGetOpaque(page));
	OffsetNumber last = PageGetMaxOffsetNumber(page);

	if (reader->from == 0 || first > last || !is_below(reader, page, first, reader->from))
		return first;
	return last_below(reader, page, first, last, reader->from) + 1;
}

/* Notes the wanted items of a copied page; returns false if no later page has any. */
static bool
take_items(GpuSortLeafReader *reader, GpuSortLeafPage *leaf)
{
	Page		page = leaf->page;
	OffsetNumber last = PageGetMaxOffsetNumber(page);
	bool		all_visible = false;
	BlockNumber block = InvalidBlockNumber;
	uint64		ntids = 0;
	bool		goes_on = true;

	leaf->nitems = 0;
	for (OffsetNumber offset = first_wanted(reader, page); offset <= last; offset++)
	{
		ItemId		id = PageGetItemId(page, offset);
		IndexTuple	item = (IndexTuple) PageGetItem(page, id);
		uint64		word;
		ItemPointer tids = &item->t_tid;
		int			n = 1;

		if (ItemIdIsDead(id) && reader->skips_killed)
			continue;
		if (!word_of_item(reader, item, &word))
		{
			if (reader->nulls_first)
				continue;
			goes_on = false;
			break;
		}
		if (unlikely(word < reader->last))
			fail_out_of_order(reader);
		reader->last = word;
		if (word < reader->from)
			continue;
		if (reader->has_end && word >= reader->to)
		{
			goes_on = false;
			break;
		}
		if (BTreeTupleIsPosting(item))
		{
			tids = BTreeTupleGetPosting(item);
			n = BTreeTupleGetNPosting(item);
		}
		ntids += n;
		n = count_visible(reader, tids, n, &block, &all_visible);
		if (n == 0)
			continue;
		leaf->words[leaf->nitems] = word;
		leaf->offsets[leaf->nitems] = offset;
		leaf->nrows[leaf->nitems] = n;
		leaf->nitems++;
	}
	pgstat_count_index_tuples(reader->index, ntids);
	return goes_on;
}

/* Copies a page but for its free space, which is never looked at. */
static void
copy_page(char *copy, Page page)
{
	const PageHeaderData *header = (PageHeader) page;

	memcpy(copy, page, header->pd_lower);
	memcpy(copy + header->pd_upper, (char *) page + header->pd_upper, BLCKSZ - header->pd_upper);
}

/* Returns whether all words of a page are below those that are wanted. */
static bool
lies_below(GpuSortLeafReader *reader, Page page)
{
	return reader->from > 0 && !P_RIGHTMOST(BTPageGetOpaque(page)) &&
		is_below(reader, page, P_HIKEY, reader->from);
}

/*
 * Reads the next page into `leaf`, which gets no items if none is wanted.  Returns false if there
 * are no more pages.
 */
static bool
read_leaf(GpuSortLeafReader *reader, GpuSortLeafPage *leaf)
{
	Buffer		buffer;
	Page		page;
	BTPageOpaque opaque;
	bool		has_items;

	if (reader->descends)
		reader->next = find_leaf(reader, reader->from);
	reader->descends = false;
	if (reader->next == P_NONE)
		return false;
	buffer = read_block(reader, reader->next);
	page = BufferGetPage(buffer);
	gpusort_test_for_old_snapshot(reader->snapshot, reader->index, page);
	opaque = BTPageGetOpaque(page);
	reader->next = opaque->btpo_next;
	reader->descends = !P_IGNORE(opaque) && lies_below(reader, page);
	has_items = !P_IGNORE(opaque) && !reader->descends;
	if (has_items)
		copy_page(leaf->page, page);
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	if (has_items && !take_items(reader, leaf))
		reader->next = P_NONE;
	ReleaseBuffer(buffer);
	return true;
}

bool
gpusort_next_leaf(GpuSortLeafReader *reader, uint64 from)
{
	GpuSortLeafPage *leaf = reader->other;
	MemoryContext old = MemoryContextSwitchTo(reader->scratch);

	reader->from = Max(reader->from, from);
	if (reader->has_end && reader->from >= reader->to)
	{
		reader->next = P_NONE;
		reader->descends = false;
	}
	leaf->nitems = 0;
	while (leaf->nitems == 0 && read_leaf(reader, leaf))
	{
		CHECK_FOR_INTERRUPTS();
		if (leaf->nitems > 0 && reader->filter != NULL)
			reader->filter(reader->filter_arg, leaf);
		MemoryContextReset(reader->scratch);
	}
	MemoryContextSwitchTo(old);
	if (leaf->nitems == 0)
		return false;
	reader->other = reader->page;
	reader->page = leaf;
	return true;
}

/* ---------- cuts ---------- */

/* The words of one level's downlinks, in ascending order and without duplicates. */
typedef struct LevelWords
{
	uint64	   *words;
	int			count;
	int			room;
} LevelWords;

static void
add_word(LevelWords *level, uint64 word)
{
	if (level->count > 0 && word <= level->words[level->count - 1])
		return;
	if (level->count == level->room)
	{
		level->room *= 2;
		level->words = repalloc_huge(level->words, level->room * sizeof(uint64));
	}
	level->words[level->count++] = word;
}

/*
 * Adds the words of a page's downlinks.  Sets *right to the page's right sibling; and *below, if it
 * is P_NONE, to the first page of the level below, if that level has downlinks.
 */
static void
add_downlinks(GpuSortLeafReader *reader, LevelWords *level, BlockNumber block, BlockNumber *right,
			  BlockNumber *below)
{
	Buffer		buffer = read_block(reader, block);
	Page		page = BufferGetPage(buffer);
	BTPageOpaque opaque = BTPageGetOpaque(page);
	OffsetNumber first = P_FIRSTDATAKEY(opaque);
	OffsetNumber last = PageGetMaxOffsetNumber(page);
	bool		has_downlinks = !P_ISLEAF(opaque) && !P_IGNORE(opaque);

	*right = opaque->btpo_next;
	for (OffsetNumber offset = first; offset <= last && has_downlinks; offset++)
	{
		IndexTuple	pivot = (IndexTuple) PageGetItem(page, PageGetItemId(page, offset));
		uint64		word;

		if (*below == P_NONE && opaque->btpo_level > 1)
			*below = BTreeTupleGetDownLink(pivot);
		/* the first downlink is minus infinity, whatever its tuple says */
		if (offset > first && word_of_item(reader, pivot, &word))
			add_word(level, word);
	}
	UnlockReleaseBuffer(buffer);
}

int
gpusort_cut_leaves(GpuSortLeafReader *reader, uint64 *words, int max_words)
{
	LevelWords	level = {.words = palloc(256 * sizeof(uint64)), .room = 256};
	BlockNumber below = find_root(reader);
	int			count;

	while (below != P_NONE && level.count < max_words)
	{
		BlockNumber block = below;

		below = P_NONE;
		level.count = 0;
		while (block != P_NONE)
		{
			CHECK_FOR_INTERRUPTS();
			add_downlinks(reader, &level, block, &block, &below);
		}
	}
	count = Min(level.count, max_words);
	for (int i = 0; i < count; i++)
		words[i] = level.words[(uint64) i * level.count / count];
	pfree(level.words);
	return count;
}
