/*
 * btree_levels.c
 *		Builds the levels above the leaves, bottom up; see btree.h.
 */
#include "postgres.h"

#include "access/nbtree.h"

#include "btree/btree.h"
#include "btree/btree_page.h"

struct GpuSortLevel
{
	BlockNumber block;			/* block of the open page */
	BlockNumber left;			/* its left sibling or P_NONE */
	GpuSortPage page;			/* the open page */
	char		low_key[GPUSORT_PAGE_MAX_PIVOT] pg_attribute_aligned(MAXIMUM_ALIGNOF);
};

static void add_downlink(GpuSortLevels *levels, int number, IndexTuple key, BlockNumber child);

void
gpusort_levels_begin(GpuSortLevels *levels, GpuSortStorage *storage)
{
	levels->storage = storage;
	levels->height = 0;
}

/* Opens the level's next page, whose downlink will have the key `low_key`. */
static void
open_page(GpuSortLevels *levels, int number, BlockNumber block, IndexTuple low_key)
{
	GpuSortLevel *level = levels->level[number];

	level->block = block;
	gpusort_page_begin(&level->page, gpusort_storage_get_page(levels->storage), number);
	memcpy(level->low_key, low_key, IndexTupleSize(low_key));
}

/* Appends the page's first tuple, a downlink without a key. */
static void
append_minus_infinity(GpuSortPage *page, IndexTuple pivot)
{
	IndexTuple	tuple = (IndexTuple) gpusort_page_append(page, sizeof(IndexTupleData));

	*tuple = *pivot;
	gpusort_pivot_remove_key(tuple);
}

static void
begin_level(GpuSortLevels *levels, IndexTuple low_key)
{
	GpuSortLevel *level;

	if (levels->height == GPUSORT_MAX_LEVELS - 1)
		elog(ERROR, "btree index with more than %d levels", GPUSORT_MAX_LEVELS);
	level = palloc(sizeof(GpuSortLevel));
	level->left = P_NONE;
	levels->level[++levels->height] = level;
	open_page(levels, levels->height, gpusort_storage_new_block(levels->storage), low_key);
}

/* Unlike a leaf, an internal page is never full with its first tuple, which has no key. */
static bool
page_is_full(const GpuSortPage *page, Size size)
{
	int			space = gpusort_page_space(page);

	return space < (int) size || space < GPUSORT_PAGE_FREE_SPACE(BTREE_NONLEAF_FILLFACTOR);
}

/* Ends the open page before its last tuple, which becomes the first tuple of its right sibling. */
static void
turn_page(GpuSortLevels *levels, int number)
{
	GpuSortLevel *level = levels->level[number];
	GpuSortPage full = level->page;
	BlockNumber block = level->block;
	BlockNumber right = gpusort_storage_new_block(levels->storage);
	IndexTuple	last = gpusort_page_last(&full);

	add_downlink(levels, number + 1, (IndexTuple) level->low_key, block);

	open_page(levels, number, right, last);
	append_minus_infinity(&level->page, last);

	gpusort_page_turn_last_into_high_key(&full);
	gpusort_page_seal(&full);
	gpusort_page_link(full.data, level->left, right);
	gpusort_storage_put_page(levels->storage, block, full.data);
	level->left = block;
}

static void
add_downlink(GpuSortLevels *levels, int number, IndexTuple key, BlockNumber child)
{
	Size		size = IndexTupleSize(key);
	GpuSortLevel *level;

	BTreeTupleSetDownLink(key, child);
	if (number > levels->height)
		begin_level(levels, key);
	level = levels->level[number];

	if (page_is_full(&level->page, size))
		turn_page(levels, number);
	if (level->page.nitems == 0)
		append_minus_infinity(&level->page, key);
	else
		memcpy(gpusort_page_append(&level->page, size), key, size);
}

void
gpusort_levels_add(GpuSortLevels *levels, IndexTuple low_key, BlockNumber leaf)
{
	add_downlink(levels, 1, low_key, leaf);
}

/*
 * Completes the rightmost page of each level, bottom up.  Its downlink may still
 * turn pages of the levels above, and so begin another level.  The loop ends at the
 * level that has none above it, whose only page is the root.
 */
BlockNumber
gpusort_levels_finish(GpuSortLevels *levels, uint32 *height)
{
	for (int number = 1;; number++)
	{
		GpuSortLevel *level = levels->level[number];
		bool		is_root = (number == levels->height);

		if (!is_root)
			add_downlink(levels, number + 1, (IndexTuple) level->low_key, level->block);

		gpusort_page_omit_high_key(&level->page);
		gpusort_page_seal(&level->page);
		if (is_root)
			gpusort_page_mark_root(level->page.data);
		gpusort_page_link(level->page.data, level->left, P_NONE);
		gpusort_storage_put_page(levels->storage, level->block, level->page.data);
		if (is_root)
		{
			*height = number;
			return level->block;
		}
	}
}

void
gpusort_levels_write_metapage(GpuSortLevels *levels, BlockNumber root, uint32 height,
							  bool allequalimage)
{
	char	   *metapage = gpusort_storage_get_page(levels->storage);

	_bt_initmetapage((Page) metapage, root, height, allequalimage);
	gpusort_storage_put_page(levels->storage, BTREE_METAPAGE, metapage);
}
