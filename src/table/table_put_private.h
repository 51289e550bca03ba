/*
 * table_put_private.h
 *		Puts rows into the blocks of a table that is in use.
 */
#ifndef GPUSORT_TABLE_PUT_PRIVATE_H
#define GPUSORT_TABLE_PUT_PRIVATE_H

#include "access/htup_details.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"

/*
 * Pin and lock a block that was claimed.  Returns false, with the block neither locked nor pinned,
 * if another process has put rows into it.
 */
extern bool gpusort_table_lock_if_empty(Relation heap, BufferAccessStrategy strategy,
										BlockNumber block, Buffer *buffer);

/*
 * Pin and lock an empty block: the block that was claimed or, if another process has put rows into
 * it, a new one at the end, to which *block is set.
 */
extern Buffer gpusort_table_lock_empty(Relation heap, BufferAccessStrategy strategy,
									   BlockNumber *block);

/*
 * Put a row into a page that has room for it.  Called in a critical section, so a failure is a
 * PANIC.
 */
extern OffsetNumber gpusort_table_put_row(Page page, BlockNumber block, HeapTupleHeader row,
										  uint32 length);

/* How rows put into a table are logged. */
typedef struct GpuSortTableLog
{
	bool		use_wal;
	bool		decoded;		/* logical decoding is interested in the rows */
	bool		frozen;			/* these rows and all others in their block are frozen */
	/* the visibility map's page, if the record changes it too; else invalid */
	Buffer		map;
	PGAlignedBlock record;		/* buffer for the data of a WAL record */
} GpuSortTableLog;

/* Find out how rows put into the table are logged. */
extern void gpusort_table_log_begin(GpuSortTableLog *log, Relation heap);

/*
 * Log `count` rows that were put into a block, as heap_multi_insert() does.  `offsets` are their
 * line pointers; NULL if the block has no other rows.  `decode_end` says that no later row will
 * refer to values that were toasted for these rows and those before.
 */
extern void gpusort_table_log_rows(GpuSortTableLog *log, Buffer buffer, const OffsetNumber *offsets,
								   int count, bool decode_end);

#endif							/* GPUSORT_TABLE_PUT_PRIVATE_H */
