/*
 * btree_storage.h
 *		Finished index pages out to WAL and disk.
 *
 * The storage gives out block numbers and page buffers and takes back finished
 * pages, in any order; each block given out must come back once.  Pages bypass
 * shared buffers, since no other process can look at the index yet, and are queued to
 * be WAL-logged many in a record.
 *
 * Several processes can write a file: blocks are given out under the relation's
 * extension lock, and the file grows as they are.  One of them, the one that made
 * its storage first of all, makes it durable when the others are done.
 *
 * Same rules as the server's bulk writes (smgr_bulk_write() of PostgreSQL 17),
 * which 15 and 16 don't have: WAL before the write; checksum last, since the LSN
 * is part of the page; no fsync request per page but one for the relation, or an
 * immediate fsync if a checkpoint has begun meanwhile that missed them.
 */
#ifndef GPUSORT_BTREE_STORAGE_H
#define GPUSORT_BTREE_STORAGE_H

#include "storage/block.h"
#include "utils/rel.h"

typedef struct GpuSortStorage GpuSortStorage;

/* For an index without blocks.  Allocates in the current context. */
extern GpuSortStorage *gpusort_storage_begin(Relation index);

/* The first of `count` new blocks side by side. */
extern BlockNumber gpusort_storage_claim(GpuSortStorage *storage, uint32 count);

/* The next block number. */
static inline BlockNumber
gpusort_storage_new_block(GpuSortStorage *storage)
{
	return gpusort_storage_claim(storage, 1);
}

/*
 * A file that several processes write, each with a storage of its own.
 * In shared memory, zero at first, and protected by the relation's extension lock.
 */
typedef struct GpuSortSharedFile
{
	BlockNumber blocks;			/* given out, and there */
} GpuSortSharedFile;

extern void gpusort_storage_share(GpuSortStorage *storage, GpuSortSharedFile *file);

extern void gpusort_storage_lock(GpuSortStorage *storage);
extern void gpusort_storage_unlock(GpuSortStorage *storage);

/* A page buffer, not initialised, the caller's until it puts or the end. */
extern char *gpusort_storage_get_page(GpuSortStorage *storage);

/* Take a buffer back, whose page nobody wants. */
extern void gpusort_storage_free_page(GpuSortStorage *storage, char *page);

/* Take a finished page and its buffer. */
extern void gpusort_storage_put_page(GpuSortStorage *storage, BlockNumber block, char *page);

/* Write what is queued. */
extern void gpusort_storage_flush(GpuSortStorage *storage);

/*
 * Write what is queued and make the file durable: all of it, so other processes
 * that write to it must have flushed.
 */
extern void gpusort_storage_finish(GpuSortStorage *storage);

#endif							/* GPUSORT_BTREE_STORAGE_H */
