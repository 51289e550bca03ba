/*
 * index_leaf.c
 *		Leaf pages from a sorted stream of tuples; see index_leaf.h.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "index_leaf.h"

void
index_leaf_begin(IndexLeafBuilder *leaf, Relation heap, Relation index,
				 BTScanInsert scan_key, const IndexLeafSink *sink)
{
	IndexTuple	minus_infinity;

	leaf->heap = heap;
	leaf->index = index;
	leaf->scan_key = scan_key;
	leaf->truncate_context = AllocSetContextCreate(CurrentMemoryContext, "gpusort high keys",
												   ALLOCSET_DEFAULT_SIZES);
	leaf->sink = *sink;
	leaf->min_space = BTGetTargetPageFreeSpace(index);
	leaf->last_posting = 0;

	leaf->low_key = palloc0(INDEX_PAGE_MAX_PIVOT);
	minus_infinity = (IndexTuple) leaf->low_key;
	minus_infinity->t_info = sizeof(IndexTupleData);
	BTreeTupleSetNAtts(minus_infinity, 0, false);

	index_page_begin(&leaf->page, sink->get_page(sink->arg), 0);
}

/*
 * End the page before its last tuple and begin the next one with it.
 */
void
index_leaf_turn_page(IndexLeafBuilder *leaf)
{
	IndexPage	full = leaf->page;
	IndexTuple	first_right = index_page_last(&full);
	Size		size = MAXALIGN(IndexTupleSize(first_right));
	MemoryContext caller = MemoryContextSwitchTo(leaf->truncate_context);
	IndexTuple	high_key;

	CHECK_FOR_INTERRUPTS();

	high_key = _bt_truncate(leaf->index, index_page_last_but_one(&full), first_right,
							leaf->scan_key);
	MemoryContextSwitchTo(caller);

	index_page_begin(&leaf->page, leaf->sink.get_page(leaf->sink.arg), 0);
	memcpy(index_page_append(&leaf->page, size), first_right, size);

	index_page_remove_last(&full);
	index_page_set_high_key(&full, high_key);
	index_page_seal(&full);
	leaf->sink.put_page(leaf->sink.arg, full.data, (IndexTuple) leaf->low_key, false);

	memcpy(leaf->low_key, high_key, IndexTupleSize(high_key));
	MemoryContextReset(leaf->truncate_context);
}

void
index_leaf_finish(IndexLeafBuilder *leaf)
{
	if (leaf->page.nitems == 0)
		return;
	index_page_omit_high_key(&leaf->page);
	index_page_seal(&leaf->page);
	leaf->sink.put_page(leaf->sink.arg, leaf->page.data, (IndexTuple) leaf->low_key, true);
}

/*
 * The server's own ERROR for a tuple that is too large.
 */
void
index_leaf_refuse(IndexLeafBuilder *leaf, IndexTuple tuple)
{
	_bt_check_third_page(leaf->index, leaf->heap, true, (Page) leaf->page.data, tuple);
	elog(ERROR, "index row of %zu bytes does not fit on a page of index \"%s\"",
		 IndexTupleSize(tuple), RelationGetRelationName(leaf->index));
}
