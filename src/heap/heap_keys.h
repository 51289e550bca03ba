/*
 * heap_keys.h
 *		Makes the rows that a table's versions are sorted as, if the index has expressions.
 *
 * The value of an expression must be at hand whenever rows are compared, also after they were
 * spilled.  So the rows of such a sort have these columns:
 *
 *		version (a bytea) | first key | second key | ...
 *
 * The version comes first, so that it is found without looking at anything else.
 */
#ifndef GPUSORT_HEAP_KEYS_H
#define GPUSORT_HEAP_KEYS_H

#include "access/htup_details.h"
#include "executor/tuptable.h"
#include "utils/rel.h"

typedef struct GpuSortHeapKeys GpuSortHeapKeys;

/* The column of the index's nth key, from 0 on. */
#define GPUSORT_HEAP_KEY_ATTNO(n)	((AttrNumber) ((n) + 2))

/* Returns whether the versions are sorted as such rows, because the index has expressions. */
extern bool gpusort_heap_has_keys(Relation index);

/* Returns the descriptor of such rows, allocated in the current memory context. */
extern TupleDesc gpusort_heap_keys_desc(Relation heap, Relation index);

/*
 * Begin making rows, with memory of the current context. gpusort_heap_keys_end() releases what does
 * not go away with the context.
 */
extern GpuSortHeapKeys *gpusort_heap_keys_begin(Relation heap, Relation index);
extern void gpusort_heap_keys_end(GpuSortHeapKeys *keys);

/* Compute the keys of a tuple of the table, for the next call of gpusort_heap_keys_row(). */
extern void gpusort_heap_keys_compute(GpuSortHeapKeys *keys, HeapTuple tuple);

/*
 * Returns the row that consists of the keys just computed and of the tuple's version, which was
 * packed (heap_version.h).  The caller has to clear the slot.
 */
extern TupleTableSlot *gpusort_heap_keys_row(GpuSortHeapKeys *keys, HeapTuple packed);

/* Returns whether workers may compute the keys. */
extern bool gpusort_heap_keys_are_safe(Relation index);

/* Returns the version in such a row. */
static inline MinimalTuple
gpusort_heap_keyed_version(const void *row)
{
	const HeapTupleHeader header = (HeapTupleHeader) ((char *) row - MINIMAL_TUPLE_OFFSET);

	return (MinimalTuple) ((char *) header + header->t_hoff + VARHDRSZ);
}

#endif							/* GPUSORT_HEAP_KEYS_H */
