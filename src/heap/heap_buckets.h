/*
 * heap_buckets.h
 *		Rows in bulk to the ends of several tables.
 *
 * Tuples are formed in buckets in private memory, one for each table.  Then, in turn with other processes that put
 * rows into the same tables, they are given their places: those that have room in the table's last page are put there, for
 * the others the table grows.  Pages that are full may be written after that.  So a table has its rows in the
 * order of the turns, without gaps, however few of them there are at a time, and nobody needs a page
 * of his own for each table.
 *
 * Otherwise as heap_append.h.
 */
#ifndef GPUSORT_HEAP_BUCKETS_H
#define GPUSORT_HEAP_BUCKETS_H

#include "access/htup_details.h"
#include "storage/block.h"
#include "utils/rel.h"

#include "heap/heap_owner.h"

/* The end of a table.  In memory that all processes share; whose turn it is may look at it. */
typedef struct GpuSortHeapTail
{
	BlockNumber block;			/* that further rows may go to, or InvalidBlockNumber: it is not known yet */
	BlockNumber first_block;	/* that rows could go to */
	uint64		rows;			/* that workers have put into the table */
} GpuSortHeapTail;

typedef struct GpuSortBuckets GpuSortBuckets;
typedef struct GpuSortBucket GpuSortBucket;

/* In the current context. */
extern GpuSortBuckets *gpusort_buckets_begin(const GpuSortAppendOwner *owner);

/* One for a table, which stays open.  It must be none that the server itself looks at. */
extern GpuSortBucket *gpusort_bucket_begin(GpuSortBuckets *buckets, Relation heap, GpuSortHeapTail *tail);

/* Room for a tuple, as from gpusort_append_tuple(). */
extern HeapTupleHeader gpusort_bucket_tuple(GpuSortBuckets *buckets, GpuSortBucket *bucket, uint32 length);

/* What its tuples begin with. */
extern HeapTupleHeader gpusort_bucket_header(GpuSortBucket *bucket);

/*
 * Give all rows their places; with "put_off" pages that are full are written later, by gpusort_buckets_write().
 * Rows are counted as inserted, in workers in the tail.  "decode_end": as for gpusort_append_write(), and not with "put_off".
 */
extern void gpusort_buckets_place(GpuSortBuckets *buckets, bool put_off, bool decode_end);

/* Write what was put off.  The buckets are empty then. */
extern void gpusort_buckets_write(GpuSortBuckets *buckets);

/* Forget the rows, which have no places yet. */
extern void gpusort_buckets_forget(GpuSortBuckets *buckets);

/* Give back what is not memory. */
extern void gpusort_buckets_end(GpuSortBuckets *buckets);

#endif							/* GPUSORT_HEAP_BUCKETS_H */
