/*
 * load_indexes.c
 *		Whether the indexes of tables can be filled when the rows are there, and the locks for it;
 *		see load_partitions_private.h.
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

#include "table/table.h"
#include "load/load_partitions_private.h"
#include "load/load_statement_private.h"
#include "pg_compat/tables.h"
#include "settings.h"

/* ---------- whether indexes can be filled when the rows are there ---------- */

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

/*
 * Returns whether an index can be filled afterwards.  It must be of one of the server's own access
 * methods and operator classes, compute nothing that is not safe, and be checked at once.  If it is
 * built, and not in use, it must be valid, and no open query of this session may use it.
 */
static bool
index_is_ours(Oid oid, bool is_used)
{
	Relation	index = index_open(oid, AccessShareLock);
	Form_pg_index form = index->rd_index;
	bool		is_ours = index->rd_rel->relam < FirstNormalObjectId &&
		form->indimmediate && !form->indisexclusion && classes_are_plain(index) &&
		gpusort_load_expression_is_safe((Node *) RelationGetIndexExpressions(index)) &&
		gpusort_load_expression_is_safe((Node *) RelationGetIndexPredicate(index)) &&
		(is_used || (index->rd_refcnt == 1 && form->indisvalid && form->indisready &&
					 form->indislive));

	index_close(index, AccessShareLock);
	return is_ours;
}

/*
 * Returns whether gpusort.copy_indexes allows it.  While indexes are built, other sessions have to
 * wait.  Where they are in use, other sessions that insert the same keys do not find ours until our
 * rows are all read: so of two loads of a key the one that has begun first may be the one that is
 * refused.  A new file for each index also means a new row in pg_class: a temporary table that is
 * filled and emptied once per transaction would leave as many dead rows there.
 */
static bool
setting_allows(Relation table, bool is_used)
{
	bool		is_new = gpusort_relation_is_new(table);
	bool		is_temporary = RelationUsesLocalBuffers(table);

	switch (gpusort_copy_indexes)
	{
		case GPUSORT_COPY_INDEXES_ONLY_NEW:
			return is_new || (is_used && is_temporary);
		case GPUSORT_COPY_INDEXES_NEW:
			return is_new || is_used;
		case GPUSORT_COPY_INDEXES_EMPTY:
			return is_new || is_used || !is_temporary;
		default:
			return false;
	}
}

static bool
indexes_are_ours(Relation table, bool is_used)
{
	ListCell   *lc;

	if (!setting_allows(table, is_used))
		return false;
	foreach(lc, RelationGetIndexList(table))
	{
		if (!index_is_ours(lfirst_oid(lc), is_used))
			return false;
	}
	return true;
}

static bool
can_be_built(Relation table)
{
	return RelationGetNumberOfBlocks(table) == 0 && indexes_are_ours(table, false);
}

bool
gpusort_load_entries_are_ours(Relation table)
{
	return indexes_are_ours(table, true);
}

/* Each index of a partitioned table has its like in each partition. */
bool
gpusort_load_indexes_are_ours(Relation table)
{
	return RelationGetIndexList(table) == NIL || indexes_are_ours(table, true) ||
		(table->rd_rel->relkind == RELKIND_RELATION && can_be_built(table));
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
 * Locks a table and its indexes if it is empty and its indexes can be built, and returns whether
 * that was done.  Any transaction that has looked at the table and has not ended, or that writes to
 * it, has locks that conflict with these.  From now on other sessions wait.
 */
static bool
lock_if_empty(Relation table)
{
	List	   *indexes = RelationGetIndexList(table);
	List	   *locked = NIL;
	ListCell   *lc;

	if (!can_be_built(table) || !ConditionalLockRelation(table, ShareRowExclusiveLock))
		return false;
	foreach(lc, indexes)
	{
		if (!ConditionalLockRelationOid(lfirst_oid(lc), AccessExclusiveLock))
			break;
		locked = lappend_oid(locked, lfirst_oid(lc));
	}
	/* the table may have got rows before it was locked */
	if (list_length(locked) == list_length(indexes) && can_be_built(table))
		return true;
	unlock(table, locked);
	return false;
}

/* ---------- leaves ---------- */

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
 * A leaf that is new in this transaction is locked already.  There may be more of the other leaves
 * than there is room for in the lock table: they are locked only while the leaves and indexes seen
 * so far would need less than a quarter of it.
 */
static bool
has_room_for_locks(const GpuSortLoadLeaves *leaves, Relation table)
{
	return gpusort_relation_is_new(table) ||
		leaves->count + leaves->nindexes < gpusort_lock_places() / 4;
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
	locked = RelationGetIndexList(table) != NIL && has_room_for_locks(leaves, table) &&
		lock_if_empty(table);
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

bool
gpusort_load_leaves_alone(GpuSortLoadLeaves *leaves, Relation table)
{
	GpuSortLoadLeaf *leaf = palloc0(sizeof(GpuSortLoadLeaf));

	leaf->table = RelationGetRelid(table);
	leaf->is_used = !lock_if_empty(table);
	leaf->first_block = gpusort_table_own_rows_first_block(table);
	*leaves = (GpuSortLoadLeaves) {
		.count = 1,.leaves = leaf
	};
	return !leaf->is_used || gpusort_load_entries_are_ours(table);
}
