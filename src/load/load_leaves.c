/*
 * load_leaves.c
 *		The leaves of a partitioned table whose indexes are filled when the rows are there; see load_leaves.h.
 */
#include "postgres.h"

#include "access/table.h"
#include "access/twophase.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "storage/lock.h"
#include "utils/rel.h"

#include "load/load_indexes.h"
#include "load/load_leaves.h"
#include "pg_compat/tables.h"

int64
gpusort_lock_places(void)
{
	return (int64) max_locks_per_xact * (MaxBackends + max_prepared_xacts);
}

static void
add_leaf(GpuSortLoadLeaves *leaves, Relation table)
{
	leaves->leaves[leaves->count++].table = RelationGetRelid(table);
	leaves->nindexes += list_length(RelationGetIndexList(table));
}

/* Look at one, and lock it. */
static const char *
why_not_leaf(GpuSortLoadLeaves *leaves, Relation table)
{
	if (RelationGetIndexList(table) == NIL)
		return NULL;
	if (leaves->count == PG_UINT16_MAX)
		return "too many partitions have indexes";
	if (!gpusort_load_indexes_are_ours(table))
		return "a partition's indexes can't be built when the rows are there";
	if (leaves->count + leaves->nindexes > gpusort_lock_places() / 4 && !gpusort_relation_is_new(table))
		return "there are more partitions with indexes than can be locked";
	if (!gpusort_load_lock_indexes(table))
		return "others use a partition's indexes";
	add_leaf(leaves, table);
	return NULL;
}

/* One that is new is locked already. */
static const char *
take_leaf(GpuSortLoadLeaves *leaves, Oid oid)
{
	Relation	table;
	const char *why;

	if (!ConditionalLockRelationOid(oid, RowExclusiveLock))
		return "others use a partition";
	table = try_table_open(oid, NoLock);
	if (table == NULL)
	{
		UnlockRelationOid(oid, RowExclusiveLock);
		return "a partition is gone";
	}
	why = why_not_leaf(leaves, table);
	table_close(table, RowExclusiveLock);
	return why;
}

static void
give_back(GpuSortLoadLeaves *leaves)
{
	for (int i = 0; i < leaves->count; i++)
	{
		Relation	table = table_open(leaves->leaves[i].table, NoLock);

		gpusort_load_unlock_indexes(table);
		table_close(table, NoLock);
	}
	leaves->count = leaves->nindexes = 0;
}

const char *
gpusort_leaves_begin(GpuSortLoadLeaves *leaves, List *indexed)
{
	const char *why = NULL;
	ListCell   *lc;

	leaves->count = leaves->nindexes = 0;
	leaves->leaves = palloc_extended(list_length(indexed) * sizeof(GpuSortLoadLeaf), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	foreach(lc, indexed)
	{
		CHECK_FOR_INTERRUPTS();
		if ((why = take_leaf(leaves, lfirst_oid(lc))) != NULL)
			break;
	}
	if (why != NULL)
		give_back(leaves);
	return why;
}
