/*
 * index_writer.h
 *		Writes a complete btree index from a sorted stream of index tuples.
 *
 * The writer takes over where a btree build has sorted its tuples.  It fills an index whose file is
 * still empty with pages of the ordinary format, and leaves it as the server's own build would: the
 * same tuples on the same pages, WAL-logged, checksummed and safe against a crash after commit.
 *
 * Tuples are copied straight from the sort to their page.  The sort also says which tuples equal
 * their predecessor, which spares the writer a comparison per tuple.
 *
 * There is no state outside the writer, so builds may nest.  An ERROR at any point needs no
 * cleaning up: the file belongs to the transaction that created it and goes away with it, and the
 * writer's memory belongs to the context that was current when it began.
 *
 * Until the index is written, its file is not a btree.
 */
#ifndef GPUSORT_INDEX_WRITER_H
#define GPUSORT_INDEX_WRITER_H

#include "btree/btree.h"
#include "sort/sort_view.h"

typedef struct GpuSortIndexWriter GpuSortIndexWriter;

/*
 * Begin to fill the index, a btree without any block.  The writer is allocated in the current
 * context.
 */
extern GpuSortIndexWriter *gpusort_index_writer_begin(const GpuSortIndexTarget *target);

/*
 * Append the tuples of a view, which follow those of the view before.  The view may go away
 * afterwards.
 *
 * Raises the server's error if a tuple is too large for a btree page.
 */
extern void gpusort_index_writer_put(GpuSortIndexWriter *writer, const GpuSortView *view);

/* Complete the index, after all tuples have been put. */
extern void gpusort_index_writer_finish(GpuSortIndexWriter *writer);

#endif							/* GPUSORT_INDEX_WRITER_H */
