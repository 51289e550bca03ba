/*
 * storage.h
 *		Writes finished pages of a new table or index to WAL and disk.
 *
 * The storage gives out block numbers and page buffers and takes back finished
 * pages, in any order; each block given out must come back once.  Pages bypass
 * shared buffers, since no other process can look at the relation yet, and are queued
 * to be WAL-logged many in a record.
 *
 * Several processes can write to one file: blocks are given out under the relation's
 * extension lock, and the file grows with them.  The process that began its storage
 * first makes the file durable when the others are done.
 *
 * The rules are those of the server's bulk writes (smgr_bulk_write() of PostgreSQL 17),
 * which 15 and 16 don't have.  WAL comes before the write.  The checksum is set last,
 * since the LSN is part of the page.  There is no fsync request for each page but one
 * for the relation, or an immediate fsync if a checkpoint has begun meanwhile, which
 * may have missed some pages.
 */
#ifndef GPUSORT_STORAGE_H
#define GPUSORT_STORAGE_H

#include "storage/block.h"
#include "utils/rel.h"

typedef struct GpuSortStorage GpuSortStorage;

/* Begins to write a table or index without blocks.  Allocates in the current context. */
extern GpuSortStorage *gpusort_storage_begin(Relation relation);

/* Gives out `count` new blocks side by side; returns the first one's number. */
extern BlockNumber gpusort_storage_claim(GpuSortStorage *storage, uint32 count);

/* Gives out one new block; returns its number. */
static inline BlockNumber
gpusort_storage_new_block(GpuSortStorage *storage)
{
	return gpusort_storage_claim(storage, 1);
}

/*
 * What processes share that write to one file, each with a storage of its own.  It lies in
 * shared memory, is zeroed at first, and is protected by the relation's extension lock.
 */
typedef struct GpuSortSharedFile
{
	BlockNumber blocks;			/* number of blocks given out, which is the file's length, too */
} GpuSortSharedFile;

/* Has blocks given out from *file, which other processes share, from now on. */
extern void gpusort_storage_share(GpuSortStorage *storage, GpuSortSharedFile *file);

/* Take and release the relation's extension lock. */
extern void gpusort_storage_lock(GpuSortStorage *storage);
extern void gpusort_storage_unlock(GpuSortStorage *storage);

/* Returns an uninitialized page buffer, which is the caller's until it is put or freed. */
extern char *gpusort_storage_get_page(GpuSortStorage *storage);

/* Takes back a buffer whose page is not wanted. */
extern void gpusort_storage_free_page(GpuSortStorage *storage, char *page);

/* Takes a finished page and its buffer, and queues the page to be written. */
extern void gpusort_storage_put_page(GpuSortStorage *storage, BlockNumber block, char *page);

/* Logs and writes all queued pages. */
extern void gpusort_storage_flush(GpuSortStorage *storage);

/*
 * Writes all queued pages and makes the whole file durable.  Other processes that
 * write to the file must have flushed before.
 */
extern void gpusort_storage_finish(GpuSortStorage *storage);

#endif							/* GPUSORT_STORAGE_H */
