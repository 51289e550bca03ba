/*
 * heap_keys.h
 *		Rows that a table's versions are sorted as, where the index has expressions.
 *
 * What an expression says of a version must be at hand whenever rows are compared, also after they
 * were spilled.  So a sort's rows are such columns then:
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

/* Are there such rows for an index, rather than versions as they are? */
extern bool gpusort_heap_has_keys(Relation index);

/* Their descriptor, in the current context. */
extern TupleDesc gpusort_heap_keys_desc(Relation heap, Relation index);

/* In the current context; what is not memory of it must be given back. */
extern GpuSortHeapKeys *gpusort_heap_keys_begin(Relation heap, Relation index);
extern void gpusort_heap_keys_end(GpuSortHeapKeys *keys);

/* Compute the keys of a tuple of the table, ... */
extern void gpusort_heap_keys_compute(GpuSortHeapKeys *keys, HeapTuple tuple);

/* ... and have the row with these and the version that was packed of the tuple (heap_version.h); to be cleared. */
extern TupleTableSlot *gpusort_heap_keys_row(GpuSortHeapKeys *keys, HeapTuple packed);

/* May workers compute them? */
extern bool gpusort_heap_keys_are_safe(Relation index);

/* The version of such a row. */
static inline MinimalTuple
gpusort_heap_keyed_version(const void *row)
{
	const HeapTupleHeader header = (HeapTupleHeader) ((char *) row - MINIMAL_TUPLE_OFFSET);

	return (MinimalTuple) ((char *) header + header->t_hoff + VARHDRSZ);
}

#endif							/* GPUSORT_HEAP_KEYS_H */
