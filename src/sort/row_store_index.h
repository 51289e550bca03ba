/*
 * row_store_index.h
 *		Storing rows as index tuples.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_ROW_STORE_INDEX_H
#define GPUSORT_ROW_STORE_INDEX_H

#include "sort/row_store.h"

/* A TID as a number that sorts like it. */
static inline uint64
tid_word(const ItemPointerData *tid)
{
	return (uint64) ItemPointerGetBlockNumberNoCheck(tid) << 16 |
		ItemPointerGetOffsetNumberNoCheck(tid);
}

/* As gpusort_make_template(), with the header of an index tuple. */
extern void gpusort_make_index_template(GpuSortTemplate *template, TupleDesc desc);

/*
 * Form and store the index tuple of the values.  row->source is NULL if the
 * values lie where the codecs should see them, else the stored tuple: look them
 * up there.
 */
extern bool gpusort_row_store_put_index(GpuSort *sort, const Datum *values, const bool *isnull,
										ItemPointer tid, GpuSortStoredRow *row);

#endif							/* GPUSORT_ROW_STORE_INDEX_H */
