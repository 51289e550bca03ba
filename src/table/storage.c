/*
 * storage.c
 *		Writes finished pages of a new table or index to WAL and disk; see storage.h.
 *
 * Buffers are reused: when a batch of pages has been written, its buffers are filled
 * anew.  So a build of any size works in some 300 kB, which stay in the cache and
 * never cause a page fault.
 *
 * Pages come nearly in the order of their blocks, leaves one after another.  An
 * internal page gets its block when it is begun and comes back hundreds of
 * leaves later; until then the file has zeros in its place.
 */
#include "postgres.h"

#include "access/xlog.h"
#include "access/xloginsert.h"
#include "access/xlogrecord.h"
#include "storage/bufpage.h"
#include "storage/lmgr.h"
#include "storage/proc.h"
#include "storage/smgr.h"
#include "utils/memutils.h"

#include "pg_compat/pages.h"
#include "table/storage.h"

/* How many pages are written at a time: as many as one WAL record can hold. */
#define BATCH_PAGES		XLR_MAX_BLOCK_ID

/* Finished pages that have to be logged and written. */
typedef struct PageQueue
{
	int			count;
	BlockNumber blocks[BATCH_PAGES];	/* in ascending order */
	char	   *pages[BATCH_PAGES];
} PageQueue;

/* Page buffers that are not in use. */
typedef struct PageBuffers
{
	MemoryContext context;		/* where new buffers are allocated */
	int			count;
	char	   *pages[2 * BATCH_PAGES];
} PageBuffers;

struct GpuSortStorage
{
	Relation	relation;
	bool		use_wal;
	XLogRecPtr	start_redo;		/* redo pointer before the first write */

	GpuSortSharedFile *shared;	/* counts blocks; if NULL, the next two fields do */
	BlockNumber next_block;		/* number of blocks given out */
	BlockNumber file_blocks;	/* length of the file, zeroed blocks included */

	PageQueue	queue;
	PageBuffers buffers;
	char	   *zero_page;
};

GpuSortStorage *
gpusort_storage_begin(Relation relation)
{
	GpuSortStorage *storage = palloc0(sizeof(GpuSortStorage));

	storage->relation = relation;
	storage->use_wal = RelationNeedsWAL(relation);
	storage->start_redo = GetRedoRecPtr();
	storage->buffers.context = CurrentMemoryContext;
	storage->zero_page = gpusort_alloc_page(CurrentMemoryContext);
	memset(storage->zero_page, 0, BLCKSZ);
	return storage;
}

void
gpusort_storage_share(GpuSortStorage *storage, GpuSortSharedFile *file)
{
	storage->shared = file;
}

void
gpusort_storage_lock(GpuSortStorage *storage)
{
	LockRelationForExtension(storage->relation, ExclusiveLock);
}

void
gpusort_storage_unlock(GpuSortStorage *storage)
{
	UnlockRelationForExtension(storage->relation, ExclusiveLock);
}

/*
 * Gives out blocks of a file that several processes write to.  The file grows at once, by
 * writing the last one of the blocks; the others are a hole that will be filled.  So it
 * grows in order whichever process writes first: only then may it be continued in
 * further segments.
 */
static BlockNumber
claim_shared(GpuSortStorage *storage, uint32 count)
{
	BlockNumber first;

	gpusort_storage_lock(storage);
	first = storage->shared->blocks;
	smgrextend(RelationGetSmgr(storage->relation), MAIN_FORKNUM, first + count - 1,
			   storage->zero_page, true);
	storage->shared->blocks = first + count;
	gpusort_storage_unlock(storage);
	return first;
}

BlockNumber
gpusort_storage_claim(GpuSortStorage *storage, uint32 count)
{
	BlockNumber first = storage->next_block;

	if (storage->shared != NULL)
		return claim_shared(storage, count);
	storage->next_block += count;
	return first;
}

char *
gpusort_storage_get_page(GpuSortStorage *storage)
{
	PageBuffers *buffers = &storage->buffers;

	if (buffers->count > 0)
		return buffers->pages[--buffers->count];
	return gpusort_alloc_page(buffers->context);
}

/* Writes a page behind the end of the file, with zeros in the blocks between. */
static void
extend_file(GpuSortStorage *storage, BlockNumber block, char *page)
{
	SMgrRelation smgr = RelationGetSmgr(storage->relation);

	while (storage->file_blocks < block)
		smgrextend(smgr, MAIN_FORKNUM, storage->file_blocks++, storage->zero_page, true);
	smgrextend(smgr, MAIN_FORKNUM, block, page, true);
	storage->file_blocks++;
}

/*
 * WAL-logs the queued pages.  The WAL writer is told, as after an asynchronous commit,
 * so that it writes and flushes WAL while this process fills pages.  Otherwise WAL
 * buffers would run full, this process would write them out one by one, and the commit
 * would have to flush everything.  For 10 M int8 keys, 570 ms become 480.
 */
static void
log_queue(Relation relation, PageQueue *queue)
{
	log_newpages(gpusort_relation_locator(relation), MAIN_FORKNUM, queue->count, queue->blocks,
				 (Page *) queue->pages, true);
	XLogSetAsyncXactLSN(PageGetLSN((Page) queue->pages[0]));
}

/* Returns whether the file has the block, if only as zeros. */
static bool
block_exists(const GpuSortStorage *storage, BlockNumber block)
{
	return storage->shared != NULL || block < storage->file_blocks;
}

/*
 * Writes pages to blocks that the file has already.  These may be holes, for which a full disk
 * may have no room: it is only now that the file takes space for them.  So the error says that the
 * file could not be extended.
 */
static void
fill_blocks(const GpuSortStorage *storage, BlockNumber block, char **pages, int count)
{
	MemoryContext context = CurrentMemoryContext;

	PG_TRY();
	{
		gpusort_write_blocks(RelationGetSmgr(storage->relation), block, pages, count);
	}
	PG_CATCH();
	{
		if (geterrcode() != ERRCODE_DISK_FULL)
			PG_RE_THROW();
		MemoryContextSwitchTo(context);
		FlushErrorState();
		errno = ENOSPC;
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not extend file \"%s\": %m",
						gpusort_block_file(storage->relation, block)),
				 errhint("Check free disk space.")));
	}
	PG_END_TRY();
}

/*
 * Writes queued page i, and the queued pages of the blocks behind it if the file has these; returns
 * how many pages were written.  A write must not go on in the next segment of the file.
 */
static int
write_run(GpuSortStorage *storage, int i)
{
	PageQueue  *queue = &storage->queue;
	BlockNumber block = queue->blocks[i];
	int			count = 1;

	if (!block_exists(storage, block))
	{
		extend_file(storage, block, queue->pages[i]);
		return 1;
	}
	while (i + count < queue->count && queue->blocks[i + count] == block + count &&
		   (block + count) % RELSEG_SIZE != 0 && block_exists(storage, block + count))
		count++;
	fill_blocks(storage, block, queue->pages + i, count);
	return count;
}

static void
free_buffer(PageBuffers *buffers, char *page)
{
	if (buffers->count == lengthof(buffers->pages))
		pfree(page);
	else
		buffers->pages[buffers->count++] = page;
}

void
gpusort_storage_free_page(GpuSortStorage *storage, char *page)
{
	free_buffer(&storage->buffers, page);
}

void
gpusort_storage_flush(GpuSortStorage *storage)
{
	PageQueue  *queue = &storage->queue;

	if (storage->use_wal && queue->count > 0)
		log_queue(storage->relation, queue);
	for (int i = 0; i < queue->count; i++)
		gpusort_set_page_checksum(queue->pages[i], queue->blocks[i]);
	for (int i = 0; i < queue->count;)
		i += write_run(storage, i);
	for (int i = 0; i < queue->count; i++)
		free_buffer(&storage->buffers, queue->pages[i]);
	queue->count = 0;
}

void
gpusort_storage_put_page(GpuSortStorage *storage, BlockNumber block, char *page)
{
	PageQueue  *queue = &storage->queue;
	int			place;

	if (queue->count == BATCH_PAGES)
		gpusort_storage_flush(storage);

	for (place = queue->count; place > 0 && queue->blocks[place - 1] > block; place--)
	{
		queue->blocks[place] = queue->blocks[place - 1];
		queue->pages[place] = queue->pages[place - 1];
	}
	queue->blocks[place] = block;
	queue->pages[place] = page;
	queue->count++;
}

/*
 * Makes the file durable.  Its pages were written without telling the
 * checkpointer.  If no checkpoint has started since the first page, a crash before
 * the next one ends would replay all of the pages' WAL, so it is enough to have the
 * next checkpoint sync the file.  If one has started, it may have missed pages, and
 * the file is synced now.
 *
 * Unlogged relations need the sync before a clean shutdown.  Relations whose WAL is
 * skipped (wal_level = minimal) are synced by the commit.  The request is
 * superfluous for these, but they can't be told apart here.
 */
static void
make_durable(GpuSortStorage *storage)
{
	SMgrRelation smgr = RelationGetSmgr(storage->relation);
	bool		missed;

	if (RelationUsesLocalBuffers(storage->relation))
		return;

	/* No checkpoint must start between looking at the redo pointer and the request. */
	Assert((MyProc->delayChkptFlags & DELAY_CHKPT_START) == 0);
	MyProc->delayChkptFlags |= DELAY_CHKPT_START;
	missed = storage->use_wal && GetRedoRecPtr() != storage->start_redo;
	if (!missed)
		gpusort_register_sync(smgr, storage->file_blocks);
	MyProc->delayChkptFlags &= ~DELAY_CHKPT_START;

	if (missed)
		smgrimmedsync(smgr, MAIN_FORKNUM);
}

void
gpusort_storage_finish(GpuSortStorage *storage)
{
	gpusort_storage_flush(storage);
	if (storage->shared != NULL)
		storage->next_block = storage->file_blocks = storage->shared->blocks;
	Assert(storage->file_blocks == storage->next_block);
	make_durable(storage);
}
