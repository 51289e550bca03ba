/*
 * load_leaves.c
 *		The leaves of a partitioned table that have indexes; see load_leaves.h.
 *
 * Leaves that are in use are not opened here, as most of them may get no rows.  They are looked at
 * when a row gets there.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/table.h"
#include "access/twophase.h"
#include "catalog/pg_index.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "storage/lock.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"

#include "load/load_indexes.h"
#include "load/load_leaves.h"
#include "pg_compat/tables.h"

int64
gpusort_lock_places(void)
{
	return (int64) max_locks_per_xact * (MaxBackends + max_prepared_xacts);
}

/*
 * Locks a leaf and its indexes if it is empty; returns whether that was done.  A leaf that is new
 * in this transaction is locked already.  There may be more of the other leaves than there is room
 * for in the lock table: they are locked only while the leaves and indexes seen so far would need
 * less than a quarter of it.
 */
static bool
lock_if_empty(const GpuSortLoadLeaves *leaves, Relation table)
{
	return RelationGetIndexList(table) != NIL && gpusort_load_indexes_are_ours(table) &&
		(gpusort_relation_is_new(table) ||
		 leaves->count + leaves->nindexes < gpusort_lock_places() / 4) &&
		gpusort_load_lock_indexes(table);
}

static bool
open_and_lock_if_empty(const GpuSortLoadLeaves *leaves, Oid oid)
{
	Relation	table;
	bool		locked;

	if (!ConditionalLockRelationOid(oid, RowExclusiveLock))
		return false;
	table = try_table_open(oid, NoLock);
	if (table == NULL)
	{
		UnlockRelationOid(oid, RowExclusiveLock);
		return false;
	}
	locked = lock_if_empty(leaves, table);
	table_close(table, RowExclusiveLock);
	return locked;
}

static int
count_indexes(Relation catalog, Oid table)
{
	ScanKeyData key;
	SysScanDesc scan;
	int			count = 0;

	ScanKeyInit(&key, Anum_pg_index_indrelid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(table));
	scan = systable_beginscan(catalog, IndexIndrelidIndexId, true, NULL, 1, &key);
	while (HeapTupleIsValid(systable_getnext(scan)))
		count++;
	systable_endscan(scan);
	return count;
}

static void
add_leaves(GpuSortLoadLeaves *leaves, List *indexed, List *maybe_empty)
{
	Relation	catalog = table_open(IndexRelationId, AccessShareLock);
	ListCell   *next = list_head(maybe_empty);
	ListCell   *lc;

	foreach(lc, indexed)
	{
		GpuSortLoadLeaf *leaf = &leaves->leaves[leaves->count];

		CHECK_FOR_INTERRUPTS();
		leaf->table = lfirst_oid(lc);
		leaf->is_used = true;
		leaf->first_block = InvalidBlockNumber;
		/* both lists have the same order */
		if (next != NULL && lfirst_oid(next) == leaf->table)
		{
			leaf->is_used = !open_and_lock_if_empty(leaves, leaf->table);
			next = lnext(maybe_empty, next);
		}
		/* when there are more indexes than locks, it does not matter how many */
		if (leaves->nindexes < gpusort_lock_places())
			leaves->nindexes += count_indexes(catalog, leaf->table);
		leaves->count++;
	}
	table_close(catalog, AccessShareLock);
}

const char *
gpusort_leaves_begin(GpuSortLoadLeaves *leaves, List *indexed, List *maybe_empty)
{
	leaves->count = leaves->nindexes = 0;
	if (list_length(indexed) > PG_UINT16_MAX)
		return "too many partitions have indexes";
	leaves->leaves = palloc0(list_length(indexed) * sizeof(GpuSortLoadLeaf));
	add_leaves(leaves, indexed, maybe_empty);
	return NULL;
}
