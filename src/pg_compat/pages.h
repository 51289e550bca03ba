/*
 * pages.h
 *		Differences of PostgreSQL's versions: pages of relations that bypass shared buffers.
 */
#ifndef GPUSORT_PG_COMPAT_PAGES_H
#define GPUSORT_PG_COMPAT_PAGES_H

#include "postgres.h"

#include "access/xlog.h"
#include "common/relpath.h"
#include "storage/bufpage.h"
#include "storage/smgr.h"
#include "storage/sync.h"
#include "utils/memutils.h"
#include "utils/rel.h"

/*
 * 16: direct I/O needs aligned buffers.
 */
static inline char *
gpusort_alloc_page(MemoryContext context)
{
#if PG_VERSION_NUM >= 160000
	return MemoryContextAllocAligned(context, BLCKSZ, PG_IO_ALIGN_SIZE, 0);
#else
	return MemoryContextAlloc(context, BLCKSZ);
#endif
}

/*
 * 16: relation file nodes are called locators.
 */
#if PG_VERSION_NUM >= 160000
#define gpusort_relation_locator(relation)	(&(relation)->rd_locator)
#else
#define gpusort_relation_locator(relation)	(&(relation)->rd_node)
#endif

/*
 * 19: PageSetChecksumInplace() is called PageSetChecksum().
 */
static inline void
gpusort_set_page_checksum(char *page, BlockNumber block)
{
#if PG_VERSION_NUM >= 190000
	PageSetChecksum((Page) page, block);
#else
	PageSetChecksumInplace((Page) page, block);
#endif
}

/*
 * 16: relation file nodes are called locators.  18: relpath() returns a struct.
 *
 * Returns the name of the file that has a block of a relation, palloc'd.
 */
static inline char *
gpusort_block_file(Relation relation, BlockNumber block)
{
	SMgrRelation smgr = RelationGetSmgr(relation);
#if PG_VERSION_NUM >= 180000
	RelPathStr	path = relpath(smgr->smgr_rlocator, MAIN_FORKNUM);
	const char *first = path.str;
#elif PG_VERSION_NUM >= 160000
	const char *first = relpath(smgr->smgr_rlocator, MAIN_FORKNUM);
#else
	const char *first = relpath(smgr->smgr_rnode, MAIN_FORKNUM);
#endif

	return block < RELSEG_SIZE ? pstrdup(first) : psprintf("%s.%u", first, block / RELSEG_SIZE);
}

/*
 * 17: smgrwritev() writes neighbouring blocks with one call.
 *
 * Writes pages to neighbouring blocks, which the file must have already.
 */
static inline void
gpusort_write_blocks(SMgrRelation smgr, BlockNumber block, char **pages, int count)
{
#if PG_VERSION_NUM >= 170000
	smgrwritev(smgr, MAIN_FORKNUM, block, (const void **) pages, count, true);
#else
	for (int i = 0; i < count; i++)
		smgrwrite(smgr, MAIN_FORKNUM, block + i, pages[i], true);
#endif
}

/*
 * 17: smgrregistersync() has the next checkpoint sync a relation; before, the
 * request has to be made for each of its segments, as md.c does.
 *
 * Has the next checkpoint sync the main fork, which has nblocks blocks.  The
 * relation must not be temporary.
 */
static inline void
gpusort_register_sync(SMgrRelation smgr, BlockNumber nblocks)
{
#if PG_VERSION_NUM >= 170000
	smgrregistersync(smgr, MAIN_FORKNUM);
#else
	for (BlockNumber segment = 0; segment * (uint64) RELSEG_SIZE < nblocks; segment++)
	{
		FileTag		tag;

		memset(&tag, 0, sizeof(tag));
		tag.handler = SYNC_HANDLER_MD;
		tag.forknum = MAIN_FORKNUM;
#if PG_VERSION_NUM >= 160000
		tag.rlocator = smgr->smgr_rlocator.locator;
#else
		tag.rnode = smgr->smgr_rnode.node;
#endif
		tag.segno = segment;
		RegisterSyncRequest(&tag, SYNC_REQUEST, true);
	}
#endif
}

#endif							/* GPUSORT_PG_COMPAT_PAGES_H */
