/*
 * row_store_index.h
 *		Storing rows as index tuples.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_ROW_STORE_INDEX_H
#define GPUSORT_ROW_STORE_INDEX_H

#include "sort/row_store.h"

/* Returns a TID as a number, so that the numbers of TIDs sort as TIDs do. */
static inline uint64
tid_word(const ItemPointerData *tid)
{
	return (uint64) ItemPointerGetBlockNumberNoCheck(tid) << 16 |
		ItemPointerGetOffsetNumberNoCheck(tid);
}

/* Does gpusort_make_template() for index tuples, and fills in their header. */
extern void gpusort_make_index_template(GpuSortTemplate *template, TupleDesc desc);

/*
 * Forms the index tuple of the values and stores it.  If the codecs are to see the values where
 * they lie, row->source is set to NULL; otherwise to the stored tuple, in which they must be looked
 * up.  Returns false if there is no room.
 */
extern bool gpusort_row_store_put_index(GpuSort *sort, const Datum *values, const bool *isnull,
										ItemPointer tid, GpuSortStoredRow *row);

#endif							/* GPUSORT_ROW_STORE_INDEX_H */
