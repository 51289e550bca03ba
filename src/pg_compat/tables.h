/*
 * tables.h
 *		Differences of PostgreSQL's versions: reading tables, adding to them, CLUSTER.
 */
#ifndef GPUSORT_PG_COMPAT_TABLES_H
#define GPUSORT_PG_COMPAT_TABLES_H

#include "postgres.h"

#include "access/tableam.h"
#include "access/transam.h"
#include "access/visibilitymap.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "commands/defrem.h"
#include "commands/progress.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/bufpage.h"
#include "storage/lmgr.h"
#include "storage/smgr.h"
#include "utils/rel.h"

/*
 * 19: a scan can be told what it is for.
 */
static inline TableScanDesc
gpusort_beginscan_parallel(Relation heap, ParallelTableScanDesc scan)
{
#if PG_VERSION_NUM >= 190000
	return table_beginscan_parallel(heap, scan, SO_NONE);
#else
	return table_beginscan_parallel(heap, scan);
#endif
}

/*
 * 19: scans have flags.
 */
static inline TableScanDesc
gpusort_table_beginscan(Relation table, Snapshot snapshot)
{
#if PG_VERSION_NUM >= 190000
	return table_beginscan(table, snapshot, 0, NULL, SO_NONE);
#else
	return table_beginscan(table, snapshot, 0, NULL);
#endif
}

static inline IndexFetchTableData *
gpusort_index_fetch_begin(Relation table)
{
#if PG_VERSION_NUM >= 190000
	return table_index_fetch_begin(table, SO_NONE);
#else
	return table_index_fetch_begin(table);
#endif
}

/*
 * 16: relation file nodes are called locators.
 *
 * Returns whether a relation was created, or given a new file, by this transaction, which then has
 * locked it against all others.
 */
static inline bool
gpusort_relation_is_new(Relation relation)
{
#if PG_VERSION_NUM >= 160000
	SubTransactionId new_file = relation->rd_firstRelfilelocatorSubid;
#else
	SubTransactionId new_file = relation->rd_firstRelfilenodeSubid;
#endif

	return relation->rd_createSubid != InvalidSubTransactionId ||
		new_file != InvalidSubTransactionId;
}

/*
 * 16: relations can be extended by many blocks at a time, without writing zeros if the file system
 * can do without.
 *
 * Extends the file of a relation by `count` > 0 blocks, whose numbers are stored in blocks[].  No
 * buffers are found for them, so the caller has to read them before writing: another process may
 * find such a block meanwhile, as it would find one that a crash has left empty, and use it.  On an
 * ERROR, such as that the disk is full, the lock is released with the transaction, and the blocks
 * that there are stay empty.
 */
static inline void
gpusort_extend_file(Relation relation, BlockNumber *blocks, int count)
{
	BlockNumber first;

	LockRelationForExtension(relation, ExclusiveLock);
	first = RelationGetNumberOfBlocks(relation);
#if PG_VERSION_NUM >= 160000
	smgrzeroextend(RelationGetSmgr(relation), MAIN_FORKNUM, first, count, false);
#else
	{
		PGAlignedBlock zeros;

		MemSet(zeros.data, 0, BLCKSZ);
		for (int i = 0; i < count; i++)
		{
			CHECK_FOR_INTERRUPTS();
			smgrextend(RelationGetSmgr(relation), MAIN_FORKNUM, first + i, zeros.data, false);
		}
	}
#endif
	UnlockRelationForExtension(relation, ExclusiveLock);
	for (int i = 0; i < count; i++)
		blocks[i] = first + i;
}

/*
 * 16: relations can be extended by many blocks at a time.
 *
 * Extends a relation by `count` blocks, whose numbers are stored in blocks[].  Their buffers are
 * valid, and not pinned.
 */
static inline void
gpusort_extend_relation(Relation relation, BufferAccessStrategy strategy, BlockNumber *blocks,
						int count)
{
#if PG_VERSION_NUM >= 160000
	Buffer		buffers[64];

	while (count > 0)
	{
		uint32		got;
		BlockNumber first = ExtendBufferedRelBy(BMR_REL(relation), MAIN_FORKNUM, strategy, 0,
												Min(count, lengthof(buffers)), buffers, &got);

		for (uint32 i = 0; i < got; i++)
		{
			*blocks++ = first + i;
			ReleaseBuffer(buffers[i]);
		}
		count -= got;
	}
#else
	bool		is_shared = !RELATION_IS_LOCAL(relation);

	if (is_shared)
		LockRelationForExtension(relation, ExclusiveLock);
	for (int i = 0; i < count; i++)
	{
		Buffer		buffer = ReadBufferExtended(relation, MAIN_FORKNUM, P_NEW, RBM_NORMAL,
												strategy);

		blocks[i] = BufferGetBlockNumber(buffer);
		ReleaseBuffer(buffer);
	}
	if (is_shared)
		UnlockRelationForExtension(relation, ExclusiveLock);
#endif
}

/*
 * 19: the WAL record of a page that is frozen as a whole has the visibility map's bits, too, which
 * are set together with the page.  Before, the bits have a record of their own.
 *
 * gpusort_map_set_frozen() sets a page's bits.  The map's page must be pinned, and in 19 also
 * locked.
 */
#if PG_VERSION_NUM >= 190000
#define GPUSORT_MAP_IS_IN_RECORD	true
#else
#define GPUSORT_MAP_IS_IN_RECORD	false
#endif

static inline void
gpusort_map_set_frozen(Relation heap, BlockNumber block, Buffer page, Buffer map)
{
	uint8		flags = VISIBILITYMAP_ALL_VISIBLE | VISIBILITYMAP_ALL_FROZEN;

#if PG_VERSION_NUM >= 190000
	visibilitymap_set(block, map, flags, heap->rd_locator);
#else
	visibilitymap_set(heap, block, page, InvalidXLogRecPtr, map, InvalidTransactionId, flags);
#endif
}

/*
 * 19: a reader of a full page sets it all-visible, or prunes it, once the transaction that has
 * inserted its rows is over for all snapshots.  So the server's inserts, and the replay of their
 * WAL, note their transaction in the page's header, unless the rows are frozen.
 *
 * Notes a transaction that has inserted rows in a page's header.
 */
static inline void
gpusort_page_set_inserted(Page page, TransactionId inserter)
{
#if PG_VERSION_NUM >= 190000
	PageSetPrunable(page, inserter);
#endif
}

/*
 * 16: relation file nodes are called locators.
 *
 * Returns whether a relation was created, or given a new file, by the current subtransaction.  Its
 * rows may be frozen then.
 */
static inline bool
gpusort_relation_is_of_subtransaction(Relation relation)
{
	SubTransactionId current = GetCurrentSubTransactionId();

#if PG_VERSION_NUM >= 160000
	return relation->rd_createSubid == current || relation->rd_newRelfilelocatorSubid == current;
#else
	return relation->rd_createSubid == current || relation->rd_newRelfilenodeSubid == current;
#endif
}

/*
 * 17: reindex_index() gets the statement that it works for, for event triggers; it may be NULL.
 */
static inline void
gpusort_reindex(Oid index, char persistence)
{
	ReindexParams params = {0};

#if PG_VERSION_NUM >= 170000
	reindex_index(NULL, index, false, persistence, &params);
#else
	reindex_index(index, false, persistence, &params);
#endif
}

/*
 * 19: CLUSTER is a kind of REPACK.
 */
#if PG_VERSION_NUM >= 190000
#define T_ClusterStmt	T_RepackStmt
#define ClusterStmt		RepackStmt
#endif

/*
 * 19: REPACK CONCURRENTLY runs while other sessions write to the table.
 *
 * Returns whether a statement is a CLUSTER (or REPACK) that locks its tables against all other
 * sessions.
 */
static inline bool
gpusort_is_cluster(const Node *statement)
{
	bool		concurrent = false;

	if (!IsA(statement, ClusterStmt))
		return false;
#if PG_VERSION_NUM >= 190000
	foreach_node(DefElem, option, ((const RepackStmt *) statement)->params)
		if (strcmp(option->defname, "concurrently") == 0)
			concurrent = defGetBoolean(option);
#endif
	return !concurrent;
}

/*
 * 19: a table may be copied as a snapshot sees it, while other sessions write to it (REPACK
 * CONCURRENTLY); and the constants of CLUSTER's progress reporting have the names of REPACK.
 *
 * The parameters of a table access method's relation_copy_for_cluster(), and the arguments that it
 * passes on.
 */
#if PG_VERSION_NUM >= 190000
#define GPUSORT_COPY_FOR_CLUSTER_PARAMETERS \
	Relation old_heap, Relation new_heap, Relation index, bool use_sort, \
	TransactionId oldest_xmin, Snapshot snapshot, TransactionId *freeze_xid, \
	MultiXactId *freeze_multi, double *num_tuples, double *tups_vacuumed, \
	double *tups_recently_dead
#define GPUSORT_COPY_FOR_CLUSTER_ARGUMENTS \
	old_heap, new_heap, index, use_sort, oldest_xmin, snapshot, freeze_xid, freeze_multi, \
	num_tuples, tups_vacuumed, tups_recently_dead
#define GPUSORT_COPY_IS_CONCURRENT	(snapshot != NULL)
#define PROGRESS_CLUSTER_PHASE		PROGRESS_REPACK_PHASE
#define PROGRESS_CLUSTER_PHASE_SEQ_SCAN_HEAP	PROGRESS_REPACK_PHASE_SEQ_SCAN_HEAP
#define PROGRESS_CLUSTER_PHASE_SORT_TUPLES		PROGRESS_REPACK_PHASE_SORT_TUPLES
#define PROGRESS_CLUSTER_PHASE_WRITE_NEW_HEAP	PROGRESS_REPACK_PHASE_WRITE_NEW_HEAP
#define PROGRESS_CLUSTER_TOTAL_HEAP_BLKS		PROGRESS_REPACK_TOTAL_HEAP_BLKS
#define PROGRESS_CLUSTER_HEAP_BLKS_SCANNED		PROGRESS_REPACK_HEAP_BLKS_SCANNED
#define PROGRESS_CLUSTER_HEAP_TUPLES_SCANNED	PROGRESS_REPACK_HEAP_TUPLES_SCANNED
#define PROGRESS_CLUSTER_HEAP_TUPLES_WRITTEN	PROGRESS_REPACK_HEAP_TUPLES_INSERTED
#else
#define GPUSORT_COPY_FOR_CLUSTER_PARAMETERS \
	Relation old_heap, Relation new_heap, Relation index, bool use_sort, \
	TransactionId oldest_xmin, TransactionId *freeze_xid, MultiXactId *freeze_multi, \
	double *num_tuples, double *tups_vacuumed, double *tups_recently_dead
#define GPUSORT_COPY_FOR_CLUSTER_ARGUMENTS \
	old_heap, new_heap, index, use_sort, oldest_xmin, freeze_xid, freeze_multi, \
	num_tuples, tups_vacuumed, tups_recently_dead
#define GPUSORT_COPY_IS_CONCURRENT	false
#endif

#endif							/* GPUSORT_PG_COMPAT_TABLES_H */
