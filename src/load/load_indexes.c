/*
 * load_indexes.c
 *		Whether the indexes of a table can be filled or given entries when its rows are there, and
 *		the locks for it; see load_indexes_private.h.
 */
#include "postgres.h"

#include "access/amapi.h"
#include "access/genam.h"
#include "access/table.h"
#include "access/transam.h"
#include "access/twophase.h"
#include "catalog/pg_index.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "storage/lock.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"

#include "load/load_indexes_private.h"
#include "load/load_partitions_private.h"
#include "load/load_statement_private.h"
#include "pg_compat/tables.h"
#include "settings.h"

/* ---------- whether indexes can be filled when the rows are there ---------- */

/*
 * Returns whether an index can be built afterwards.  It must be of one of the server's own access
 * methods, compute nothing that is not safe, be valid and checked at once, and no open query of
 * this session may use it.
 */
static bool
index_is_ours(Oid oid)
{
	Relation	index = index_open(oid, AccessShareLock);
	Form_pg_index form = index->rd_index;
	bool		is_ours = index->rd_refcnt == 1 && index->rd_rel->relam < FirstNormalObjectId &&
		form->indisvalid && form->indisready &&
		form->indislive && form->indimmediate && !form->indisexclusion &&
		gpusort_load_expression_is_safe((Node *) RelationGetIndexExpressions(index)) &&
		gpusort_load_expression_is_safe((Node *) RelationGetIndexPredicate(index));

	index_close(index, AccessShareLock);
	return is_ours;
}

/*
 * Returns whether gpusort.copy_indexes allows that other sessions have to wait.  A new file for
 * each index also means a new row in pg_class: a temporary table that is filled and emptied once
 * per transaction would leave as many dead rows there.
 */
static bool
setting_allows(Relation table)
{
	switch (gpusort_copy_indexes)
	{
		case GPUSORT_COPY_INDEXES_ONLY_NEW:
		case GPUSORT_COPY_INDEXES_NEW:
			return gpusort_relation_is_new(table);
		case GPUSORT_COPY_INDEXES_EMPTY:
			return !RelationUsesLocalBuffers(table) || gpusort_relation_is_new(table);
		default:
			return false;
	}
}

bool
gpusort_load_indexes_are_ours(Relation table)
{
	List	   *indexes = RelationGetIndexList(table);
	ListCell   *lc;

	if (indexes == NIL)
		return true;
	if (!setting_allows(table) || RelationGetNumberOfBlocks(table) > 0)
		return false;
	foreach(lc, indexes)
	{
		if (!index_is_ours(lfirst_oid(lc)))
			return false;
	}
	return true;
}

/* ---------- locks ---------- */

static void
unlock(Relation table, List *indexes)
{
	ListCell   *lc;

	foreach(lc, indexes)
		UnlockRelationOid(lfirst_oid(lc), AccessExclusiveLock);
	UnlockRelation(table, ShareRowExclusiveLock);
}

/*
 * Any transaction that has looked at the table and has not ended, or that writes to it, has locks
 * that conflict with these.  From now on other sessions wait.
 */
bool
gpusort_load_lock_indexes(Relation table)
{
	List	   *indexes = RelationGetIndexList(table);
	List	   *locked = NIL;
	ListCell   *lc;

	if (indexes == NIL)
		return true;
	if (!ConditionalLockRelation(table, ShareRowExclusiveLock))
		return false;
	foreach(lc, indexes)
	{
		if (!ConditionalLockRelationOid(lfirst_oid(lc), AccessExclusiveLock))
			break;
		locked = lappend_oid(locked, lfirst_oid(lc));
	}
	/* the table may have got rows before it was locked */
	if (list_length(locked) == list_length(indexes) && gpusort_load_indexes_are_ours(table))
		return true;
	unlock(table, locked);
	return false;
}

/* ---------- whether entries can be inserted into indexes in use ---------- */

/* Returns whether an index's operator classes have no support functions but the server's own. */
static bool
classes_are_plain(Relation index)
{
	int			count = IndexRelationGetNumberOfKeyAttributes(index) * index->rd_indam->amsupport;

	for (int i = 0; i < count; i++)
	{
		if (index->rd_support[i] >= FirstNormalObjectId)
			return false;
	}
	return true;
}

static bool
entries_of_index_are_ours(Oid oid)
{
	Relation	index = index_open(oid, AccessShareLock);
	Form_pg_index form = index->rd_index;
	bool		is_ours = index->rd_rel->relam < FirstNormalObjectId && form->indimmediate &&
		!form->indisexclusion &&
		classes_are_plain(index) &&
		gpusort_load_expression_is_safe((Node *) RelationGetIndexExpressions(index)) &&
		gpusort_load_expression_is_safe((Node *) RelationGetIndexPredicate(index));

	index_close(index, AccessShareLock);
	return is_ours;
}

/*
 * Returns whether gpusort.copy_indexes allows it.  Until our rows are all read, other sessions that
 * insert the same keys do not find ours: so of two loads of a key the one that has begun first may
 * be the one that is refused.
 */
static bool
setting_allows_entries(Relation table)
{
	switch (gpusort_copy_indexes)
	{
		case GPUSORT_COPY_INDEXES_OFF:
			return false;
		case GPUSORT_COPY_INDEXES_ONLY_NEW:
			return gpusort_relation_is_new(table) || RelationUsesLocalBuffers(table);
		default:
			return true;
	}
}

bool
gpusort_load_entries_are_ours(Relation table)
{
	List	   *indexes = RelationGetIndexList(table);
	ListCell   *lc;

	if (!setting_allows_entries(table))
		return false;
	foreach(lc, indexes)
	{
		if (!entries_of_index_are_ours(lfirst_oid(lc)))
			return false;
	}
	return true;
}

/* ---------- the leaves of a partitioned table that have indexes ---------- */

/*
 * Leaves that are in use are not opened here, as most of them may get no rows.  They are looked at
 * when a row gets there.
 */

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
gpusort_load_leaves_begin(GpuSortLoadLeaves *leaves, List *indexed, List *maybe_empty)
{
	leaves->count = leaves->nindexes = 0;
	if (list_length(indexed) > PG_UINT16_MAX)
		return "too many partitions have indexes";
	leaves->leaves = palloc0(list_length(indexed) * sizeof(GpuSortLoadLeaf));
	add_leaves(leaves, indexed, maybe_empty);
	return NULL;
}
