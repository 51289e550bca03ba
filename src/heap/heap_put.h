/*
 * heap_put.h
 *		Putting rows into the blocks of a table that is in use.
 */
#ifndef GPUSORT_HEAP_PUT_H
#define GPUSORT_HEAP_PUT_H

#include "access/htup_details.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"

/* Lock a block that was claimed; false, and it is not locked: somebody has taken it. */
extern bool gpusort_heap_lock_if_empty(Relation heap, BufferAccessStrategy strategy, BlockNumber block, Buffer *buffer);

/*
 * Lock an empty block: the one that was claimed, or another one at the end, if somebody has taken it.
 */
extern Buffer gpusort_heap_lock_empty(Relation heap, BufferAccessStrategy strategy, BlockNumber *block);

/* A row to a page that has room for it, in a critical section. */
extern OffsetNumber gpusort_heap_put_row(Page page, BlockNumber block, HeapTupleHeader row, uint32 length);

/* How a table's rows are logged. */
typedef struct GpuSortHeapLog
{
	bool		use_wal;
	bool		decoded;		/* they are of interest to logical decoding */
	bool		frozen;			/* they are, and all that is in their block */
	Buffer		map;			/* the visibility map's page, if it is changed with the block, or invalid */
	PGAlignedBlock record;		/* the data of a WAL record */
} GpuSortHeapLog;

extern void gpusort_heap_log_begin(GpuSortHeapLog *log, Relation heap);

/*
 * Log so many rows that were put into a block, as heap_multi_insert() does.  "offsets" are where they are; NULL: they are
 * all there is in the block.  "decode_end": whatever was toasted for these rows and those before, none of it will be
 * referred to later on.
 */
extern void gpusort_heap_log_rows(GpuSortHeapLog *log, Buffer buffer, const OffsetNumber *offsets, int count,
								  bool decode_end);

#endif							/* GPUSORT_HEAP_PUT_H */
