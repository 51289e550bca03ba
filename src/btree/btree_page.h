/*
 * btree_page.h
 *		Fills one btree page from front to back.
 *
 * A sorted load needs nothing of what PageAddItem() is for: no search for a free
 * line pointer, no shifting of later line pointers, no checks of a header that no
 * other process has touched.  Line pointers grow up, tuples grow down, and two
 * offsets describe the page until gpusort_page_seal() writes them to its header.
 *
 * The first line pointer belongs to the high key, which is known only when the
 * page is full.  A page without a right sibling has no high key, so its line
 * pointers move down by one.
 *
 * Pages are handed from owner to owner as plain BLCKSZ bytes (char *), aligned
 * for direct I/O.
 */
#ifndef GPUSORT_BTREE_PAGE_H
#define GPUSORT_BTREE_PAGE_H

#include "access/itup.h"
#include "access/nbtree.h"
#include "storage/bufpage.h"

typedef struct GpuSortPage
{
	char	   *data;
	uint32		lower;			/* end of the line pointers */
	uint32		upper;			/* start of the tuples, where the last one lies */
	uint32		nitems;			/* number of tuples, without the high key */
} GpuSortPage;

/*
 * Bytes of the longest tuple that a leaf page takes, so that three tuples and a
 * high key's heap TID fit on a page.  This is the server's BTMaxItemSize, which
 * has an argument up to PostgreSQL 17.
 */
#define GPUSORT_PAGE_MAX_TUPLE \
	(MAXALIGN_DOWN((BLCKSZ - MAXALIGN(SizeOfPageHeaderData + 3 * sizeof(ItemIdData)) - \
					MAXALIGN(sizeof(BTPageOpaqueData))) / 3) - MAXALIGN(sizeof(ItemPointerData)))

/* Bytes of the longest pivot: the longest tuple's key and a heap TID. */
#define GPUSORT_PAGE_MAX_PIVOT	(GPUSORT_PAGE_MAX_TUPLE + MAXALIGN(sizeof(ItemPointerData)))

/* Bytes to leave free for a fillfactor, as BTGetTargetPageFreeSpace() computes them. */
#define GPUSORT_PAGE_FREE_SPACE(fillfactor)	(BLCKSZ * (100 - (fillfactor)) / 100)

/* Removes the key of a pivot tuple, which then stands for minus infinity. */
static inline void
gpusort_pivot_remove_key(IndexTuple pivot)
{
	pivot->t_info = sizeof(IndexTupleData);
	BTreeTupleSetNAtts(pivot, 0, false);
}

/* Makes the page empty, without looking at its bytes. */
static inline void
gpusort_page_clear(GpuSortPage *page)
{
	page->lower = SizeOfPageHeaderData + sizeof(ItemIdData);
	page->upper = BLCKSZ - MAXALIGN(sizeof(BTPageOpaqueData));
	page->nitems = 0;
}

/* Begins an empty page of a level in the buffer `data`. */
static inline void
gpusort_page_begin(GpuSortPage *page, char *data, uint32 level)
{
	BTPageOpaque opaque;

	_bt_pageinit((Page) data, BLCKSZ);
	opaque = BTPageGetOpaque((Page) data);
	opaque->btpo_level = level;
	opaque->btpo_flags = level == 0 ? BTP_LEAF : 0;
	page->data = data;
	gpusort_page_clear(page);
}

/* Returns how many bytes another tuple can have, besides its line pointer; may be negative. */
static inline int
gpusort_page_space(const GpuSortPage *page)
{
	return (int) (page->upper - page->lower) - (int) sizeof(ItemIdData);
}

static inline IndexTuple
gpusort_page_last(const GpuSortPage *page)
{
	return (IndexTuple) (page->data + page->upper);
}

/* Returns the last tuple but one; the page must have at least two. */
static inline IndexTuple
gpusort_page_last_but_one(const GpuSortPage *page)
{
	ItemId		item = (ItemId) (page->data + page->lower) - 2;

	return (IndexTuple) (page->data + ItemIdGetOffset(item));
}

/*
 * Returns the place for another tuple of `size` bytes (MAXALIGN'd); the page must have room for it.
 */
static inline char *
gpusort_page_append(GpuSortPage *page, Size size)
{
	page->upper -= size;
	ItemIdSetNormal((ItemId) (page->data + page->lower), page->upper, size);
	page->lower += sizeof(ItemIdData);
	page->nitems++;
	return page->data + page->upper;
}

/* Removes the last tuple.  Its bytes stay where they are until the next append. */
static inline void
gpusort_page_remove_last(GpuSortPage *page)
{
	page->lower -= sizeof(ItemIdData);
	page->upper += ItemIdGetLength((ItemId) (page->data + page->lower));
	page->nitems--;
}

static inline void
gpusort_page_set_high_key(GpuSortPage *page, IndexTuple key)
{
	Size		size = MAXALIGN(IndexTupleSize(key));

	page->upper -= size;
	ItemIdSetNormal(PageGetItemId(page->data, P_HIKEY), page->upper, size);
	memcpy(page->data + page->upper, key, size);
}

/* Turns the last tuple into the high key, without moving it. */
static inline void
gpusort_page_turn_last_into_high_key(GpuSortPage *page)
{
	page->lower -= sizeof(ItemIdData);
	*PageGetItemId(page->data, P_HIKEY) = *(ItemId) (page->data + page->lower);
	page->nitems--;
}

static inline void
gpusort_page_omit_high_key(GpuSortPage *page)
{
	char	   *items = (char *) PageGetItemId(page->data, P_HIKEY);

	page->lower -= sizeof(ItemIdData);
	memmove(items, items + sizeof(ItemIdData), page->nitems * sizeof(ItemIdData));
}

/* Completes the page but for its links to siblings. */
static inline void
gpusort_page_seal(GpuSortPage *page)
{
	memset(page->data + page->lower, 0, page->upper - page->lower);
	((PageHeader) page->data)->pd_lower = page->lower;
	((PageHeader) page->data)->pd_upper = page->upper;
}

static inline void
gpusort_page_link(char *data, BlockNumber left, BlockNumber right)
{
	BTPageOpaque opaque = BTPageGetOpaque((Page) data);

	opaque->btpo_prev = left;
	opaque->btpo_next = right;
}

static inline void
gpusort_page_mark_root(char *data)
{
	BTPageGetOpaque((Page) data)->btpo_flags |= BTP_ROOT;
}

#endif							/* GPUSORT_BTREE_PAGE_H */
