/*
 * btree_leaf.c
 *		Makes leaf pages of a sorted stream of tuples; see btree_leaf.h.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "btree/btree_leaf.h"

void
gpusort_leaf_begin(GpuSortLeafBuilder *leaf, const GpuSortIndexTarget *target,
				   BTScanInsert scan_key, const GpuSortLeafSink *sink)
{
	leaf->target = *target;
	leaf->scan_key = scan_key;
	leaf->truncate_context = AllocSetContextCreate(CurrentMemoryContext, "gpusort high keys",
												   ALLOCSET_DEFAULT_SIZES);
	leaf->sink = *sink;
	leaf->min_space = BTGetTargetPageFreeSpace(target->index);
	leaf->last_posting = 0;

	leaf->low_key = palloc0(GPUSORT_PAGE_MAX_PIVOT);
	gpusort_pivot_remove_key((IndexTuple) leaf->low_key);

	gpusort_page_begin(&leaf->page, sink->get_page(sink->arg), 0);
}

/*
 * Returns the shortest key that tells the page's last tuple from the tuple before,
 * allocated in truncate_context.
 */
static IndexTuple
make_high_key(GpuSortLeafBuilder *leaf, const GpuSortPage *page)
{
	MemoryContext caller = MemoryContextSwitchTo(leaf->truncate_context);
	IndexTuple	high_key = _bt_truncate(leaf->target.index, gpusort_page_last_but_one(page),
										gpusort_page_last(page), leaf->scan_key);

	MemoryContextSwitchTo(caller);
	return high_key;
}

/* Replaces the page's last tuple with the high key, and hands the page to the sink. */
static void
end_page(GpuSortLeafBuilder *leaf, GpuSortPage *page, IndexTuple high_key, bool last)
{
	gpusort_page_remove_last(page);
	gpusort_page_set_high_key(page, high_key);
	gpusort_page_seal(page);
	leaf->sink.put_page(leaf->sink.arg, page->data, (IndexTuple) leaf->low_key, last);

	memcpy(leaf->low_key, high_key, IndexTupleSize(high_key));
	MemoryContextReset(leaf->truncate_context);
}

/* Ends the page before its last tuple, which becomes the first tuple of the next page. */
void
gpusort_leaf_turn_page(GpuSortLeafBuilder *leaf)
{
	GpuSortPage full = leaf->page;
	IndexTuple	first_right = gpusort_page_last(&full);
	Size		size = MAXALIGN(IndexTupleSize(first_right));
	IndexTuple	high_key;

	CHECK_FOR_INTERRUPTS();
	high_key = make_high_key(leaf, &full);
	gpusort_page_begin(&leaf->page, leaf->sink.get_page(leaf->sink.arg), 0);
	memcpy(gpusort_page_append(&leaf->page, size), first_right, size);
	end_page(leaf, &full, high_key, false);
}

/*
 * The next slice's first tuple is put on the page like any other, so that the high key
 * can take its place.  If that turns the page, the slice's last page has one tuple only.
 */
void
gpusort_leaf_end_slice(GpuSortLeafBuilder *leaf, IndexTuple next)
{
	GpuSortPage full;

	gpusort_leaf_add(leaf, next);
	full = leaf->page;
	end_page(leaf, &full, make_high_key(leaf, &full), true);
	gpusort_page_begin(&leaf->page, leaf->sink.get_page(leaf->sink.arg), 0);
	leaf->last_posting = 0;
}

int
gpusort_leaf_tuples_per_page(const GpuSortLeafBuilder *leaf, Size size)
{
	GpuSortLeafBuilder probe = *leaf;

	gpusort_page_clear(&probe.page);
	probe.last_posting = 0;
	while (!gpusort_leaf_is_full(&probe, size))
	{
		probe.page.upper -= size;
		probe.page.lower += sizeof(ItemIdData);
		probe.page.nitems++;
	}

	/* the last tuple goes to the next page */
	return probe.page.nitems - 1;
}

void
gpusort_leaf_finish(GpuSortLeafBuilder *leaf)
{
	if (leaf->page.nitems == 0)
		return;
	gpusort_page_omit_high_key(&leaf->page);
	gpusort_page_seal(&leaf->page);
	leaf->sink.put_page(leaf->sink.arg, leaf->page.data, (IndexTuple) leaf->low_key, true);
}

/* Raises the server's own error for a tuple that is too large. */
void
gpusort_leaf_refuse(GpuSortLeafBuilder *leaf, IndexTuple tuple)
{
	_bt_check_third_page(leaf->target.index, leaf->target.heap, true, (Page) leaf->page.data,
						 tuple);
	elog(ERROR, "index row of %zu bytes does not fit on a page of index \"%s\"",
		 IndexTupleSize(tuple), RelationGetRelationName(leaf->target.index));
}
