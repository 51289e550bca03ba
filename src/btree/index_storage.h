/*
 * index_storage.h
 *		Finished index pages out to WAL and disk.
 *
 * The storage gives out block numbers and page buffers and takes back finished
 * pages, in any order; each block given out must come back once.  Pages bypass
 * shared buffers, since nobody else can look at the index yet, and are queued to
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
#ifndef GPUSORT_INDEX_STORAGE_H
#define GPUSORT_INDEX_STORAGE_H

#include "postgres.h"

#include "storage/block.h"
#include "utils/rel.h"

typedef struct IndexStorage IndexStorage;

/* For an index without blocks.  Allocates in the current context. */
extern IndexStorage *index_storage_begin(Relation index);

/* The first of `count` new blocks side by side. */
extern BlockNumber index_storage_claim(IndexStorage *storage, uint32 count);

/* The next block number. */
static inline BlockNumber
index_storage_new_block(IndexStorage *storage)
{
	return index_storage_claim(storage, 1);
}

/*
 * A file that several processes write, each with a storage of its own.
 * In shared memory, zero at first, and protected by the relation's extension lock.
 */
typedef struct IndexSharedFile
{
	BlockNumber blocks;			/* given out, and there */
} IndexSharedFile;

extern void index_storage_share(IndexStorage *storage, IndexSharedFile *file);

extern void index_storage_lock(IndexStorage *storage);
extern void index_storage_unlock(IndexStorage *storage);

/* A page buffer, not initialised, the caller's until it puts or the end. */
extern char *index_storage_get_page(IndexStorage *storage);

/* Take a finished page and its buffer. */
extern void index_storage_put_page(IndexStorage *storage, BlockNumber block, char *page);

/* Write what is queued. */
extern void index_storage_flush(IndexStorage *storage);

/*
 * Write what is queued and make the file durable: all of it, so others who write to
 * it must have flushed.
 */
extern void index_storage_finish(IndexStorage *storage);

#endif							/* GPUSORT_INDEX_STORAGE_H */
