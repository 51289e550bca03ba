/*
 * index_writer.h
 *		A sorted stream of index tuples in, a complete btree index out.
 *
 * The writer takes over where a btree build has sorted its tuples.  It fills an
 * index whose file is still empty with pages of the ordinary format and leaves
 * it as the server's own build would: same tuples on the same pages, WAL-logged,
 * checksummed and safe against a crash after commit.
 *
 * Tuples are handed over in arrays of pointers and copied straight to their page.
 * They come from all over memory, so what takes longest is the cache misses: the
 * caller had better prefetch a block while the writer works on the one before.
 * It also says which tuples equal their predecessor, which a sort knows anyway
 * and which spares the writer a comparison per tuple.
 *
 * There is no state outside the writer, so builds may nest.  An ERROR at any
 * point needs no cleaning up: the file belongs to the transaction that created
 * it and goes away with it, and the memory hangs below the context that was
 * current at begin.
 */
#ifndef GPUSORT_INDEX_WRITER_H
#define GPUSORT_INDEX_WRITER_H

#include "postgres.h"

#include "access/itup.h"
#include "utils/rel.h"

typedef struct GpuSortIndexWriter GpuSortIndexWriter;

/*
 * Start filling `index`, a btree without any block, of table `heap`.
 *
 * `unique` says that this build enforces uniqueness (ii_Unique, which REINDEX may
 * have cleared); such an index gets no posting lists, as in the server.  All
 * else is read off the index.
 */
extern GpuSortIndexWriter *gpusort_index_writer_begin(Relation heap, Relation index,
													  bool unique);

/*
 * Append `ntuples` tuples, which follow those of earlier calls in the index's
 * order, heap TIDs breaking ties.
 *
 * Each is as index_form_tuple() makes it, with the row's TID in t_tid.  Tuples
 * are copied or done with when the call returns.
 *
 * `equal` is a bitmap: bit `first` + i says that the key columns of tuples[i]
 * equal those of the tuple before it (of the call before, for i = 0; the very
 * first tuple's bit is not looked at).  Equal means what the operator classes
 * say, nulls being equal to each other, NULLS NOT DISTINCT or not; columns of
 * INCLUDE take no part.  Posting lists are made of what is said to be equal.
 *
 * ERROR, as in the server, if a tuple is too large for a btree page.
 */
extern void gpusort_index_writer_put(GpuSortIndexWriter *writer, IndexTuple *tuples, int ntuples,
									 const uint64 *equal, uint64 first);

/*
 * Finish the last pages, the levels above and the metapage, and see to it that
 * the file is on disk no later than the server's rules demand.  Frees the writer.
 *
 * Until this has returned the index's file is not a btree.
 */
extern void gpusort_index_writer_finish(GpuSortIndexWriter *writer);

#endif							/* GPUSORT_INDEX_WRITER_H */
