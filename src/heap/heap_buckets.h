/*
 * heap_buckets.h
 *		Appends rows in bulk to the ends of several tables.
 *
 * Tuples are formed in private memory, in buckets, one for each table.  Processes that put rows
 * into the same tables take turns.  In its turn, a process gives its rows their places: those that
 * have room in a table's last page are put there, and for the others the table is extended.  Pages
 * that are full may be written after the turn.  So a table has its rows in the order of the turns,
 * without gaps, however few rows there are at a time, and no process needs a page of its own for
 * each table.
 *
 * Otherwise this works as heap_append.h does.
 */
#ifndef GPUSORT_HEAP_BUCKETS_H
#define GPUSORT_HEAP_BUCKETS_H

#include "access/htup_details.h"
#include "storage/block.h"
#include "utils/rel.h"

#include "heap/heap_owner.h"

/*
 * The end of a table, in memory that all processes share.  A process may look at it only in its
 * turn.
 */
typedef struct GpuSortHeapTail
{
	/* block for further rows, or InvalidBlockNumber if it is not known yet */
	BlockNumber block;
	BlockNumber first_block;	/* first block that this load's rows could have gone to */
	uint64		rows;			/* rows that workers have put into the table */
} GpuSortHeapTail;

typedef struct GpuSortBuckets GpuSortBuckets;
typedef struct GpuSortBucket GpuSortBucket;

/* Prepare to append rows to several tables, in the current memory context. */
extern GpuSortBuckets *gpusort_buckets_begin(const GpuSortAppendOwner *owner);

/*
 * Begin a bucket for a table, which must stay open and must not be a system catalog, which the
 * server itself reads.
 */
extern GpuSortBucket *gpusort_bucket_begin(GpuSortBuckets *buckets, Relation heap,
										   GpuSortHeapTail *tail);

/* Returns room for a tuple, as gpusort_append_tuple() does. */
extern HeapTupleHeader gpusort_bucket_tuple(GpuSortBuckets *buckets, GpuSortBucket *bucket,
											 uint32 length);

/* Returns the header that the bucket's tuples begin with. */
extern HeapTupleHeader gpusort_bucket_header(GpuSortBucket *bucket);

/*
 * Give the rows of all buckets their places, and write them.  With `put_off`, pages that are full
 * are written later, by gpusort_buckets_write().  The rows are counted as inserted; a worker counts
 * them in the tail.  `decode_end` is that of gpusort_append_write(), and must not be combined with
 * `put_off`.
 */
extern void gpusort_buckets_place(GpuSortBuckets *buckets, bool put_off, bool decode_end);

/* Write the pages that were put off.  The buckets are empty afterwards. */
extern void gpusort_buckets_write(GpuSortBuckets *buckets);

/* Forget all rows, which have no places yet. */
extern void gpusort_buckets_forget(GpuSortBuckets *buckets);

/* Release what does not go away with the memory context: the strategy. */
extern void gpusort_buckets_end(GpuSortBuckets *buckets);

#endif							/* GPUSORT_HEAP_BUCKETS_H */
