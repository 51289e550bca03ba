/*
 * load_parts.c
 *		The partitions that rows have been routed to; see load_partitions_private.h.
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/partition.h"
#include "common/hashfn.h"
#include "pgstat.h"
#include "port/pg_bitutils.h"
#include "storage/condition_variable.h"
#include "storage/lmgr.h"
#include "storage/predicate.h"
#include "storage/spin.h"

#include "load/load_partitions_private.h"
#include "pg_compat.h"
#include "team/worker_wait.h"

/* Partitions may be added during the load: there is room for so many more. */
#define SLACK	64

static uint32 wait_event = 0;

struct GpuSortLoadParts
{
	/* protects all fields but the tails of the parts */
	slock_t		mutex;
	int			count;
	int			most;
	uint32		mask;			/* the size of places, a power of two, less one */
	bool		taken_over;
	ConditionVariable taken;
	GpuSortLoadPart places[FLEXIBLE_ARRAY_MEMBER];	/* a hash table by OID, with open addressing */
};

static uint32
choose_places(int count)
{
	return pg_nextpower2_32(2 * ((uint32) count + SLACK));
}

Size
gpusort_load_parts_bytes(int count)
{
	return offsetof(GpuSortLoadParts, places) + choose_places(count) * sizeof(GpuSortLoadPart);
}

/* Returns the place of a partition, and gives it one if there is room. */
static GpuSortLoadPart *
find_place(GpuSortLoadParts *parts, Oid partition)
{
	uint32		i = murmurhash32(partition) & parts->mask;

	while (parts->places[i].partition != partition)
	{
		GpuSortLoadPart *part = &parts->places[i];

		if (part->partition == InvalidOid)
		{
			if (parts->count == parts->most)
				return NULL;
			parts->count++;
			part->partition = partition;
			part->end.block = InvalidBlockNumber;
			return part;
		}
		i = (i + 1) & parts->mask;
	}
	return &parts->places[i];
}

void
gpusort_load_parts_init(GpuSortLoadParts *parts, int count, const GpuSortLoadLeaves *leaves)
{
	memset(parts, 0, gpusort_load_parts_bytes(count));
	SpinLockInit(&parts->mutex);
	ConditionVariableInit(&parts->taken);
	parts->most = count + SLACK;
	parts->mask = choose_places(count) - 1;
	for (int i = 0; i < leaves->count; i++)
	{
		GpuSortLoadPart *part = find_place(parts, leaves->leaves[i].table);

		part->leaf = i + 1;
		part->is_used = leaves->leaves[i].is_used;
	}
}

GpuSortLoadPart *
gpusort_load_parts_open(GpuSortLoadParts *parts, Oid partition)
{
	GpuSortLoadPart *part;

	SpinLockAcquire(&parts->mutex);
	part = find_place(parts, partition);
	if (part != NULL)
		part->is_open = true;
	SpinLockRelease(&parts->mutex);
	return part;
}

/* ---------- locks ---------- */

void
gpusort_load_parts_await_leader(GpuSortLoadParts *parts)
{
	bool		taken_over = false;

	ConditionVariablePrepareToSleep(&parts->taken);
	for (;;)
	{
		SpinLockAcquire(&parts->mutex);
		taken_over = parts->taken_over;
		SpinLockRelease(&parts->mutex);
		if (taken_over)
			break;
		gpusort_worker_await(&parts->taken, gpusort_wait_event(&wait_event, "GpuSortLoadEnd"));
	}
	ConditionVariableCancelSleep();
}

/*
 * Takes the locks that routing rows to a partition has taken: on the partition, and on the
 * partitioned tables between it and the root, but not on those above the root.
 */
static void
lock_part(Oid partition, Oid root)
{
	List	   *ancestors = get_partition_ancestors(partition);
	ListCell   *lc;

	LockRelationOid(partition, RowExclusiveLock);
	foreach(lc, ancestors)
	{
		if (lfirst_oid(lc) == root)
			break;
		LockRelationOid(lfirst_oid(lc), RowExclusiveLock);
	}
	list_free(ancestors);
}

void
gpusort_load_parts_take_over(GpuSortLoadParts *parts, Oid root)
{
	/* a partition gets its place before it gets rows, and no more rows will be routed now */
	for (uint32 i = 0; i <= parts->mask; i++)
	{
		const GpuSortLoadPart *part = &parts->places[i];

		if (part->is_open)
			lock_part(part->partition, root);
	}
	SpinLockAcquire(&parts->mutex);
	parts->taken_over = true;
	SpinLockRelease(&parts->mutex);
	ConditionVariableBroadcast(&parts->taken);
}

/* ---------- the end ---------- */

/*
 * Counts the rows of a partition as inserted.  This is done here for the workers' rows, too, so
 * that an abort counts them as dead.  The free space map is not told of the last page: PostgreSQL
 * looks there in any case, and many tables would have no map yet.
 */
static void
tell_of_part(const GpuSortLoadPart *part)
{
	Relation	partition = table_open(part->partition, NoLock);

	CheckForSerializableConflictIn(partition, NULL, InvalidBlockNumber);
	if (part->end.rows > 0)
		pgstat_count_heap_insert(partition, part->end.rows);
	table_close(partition, NoLock);
}

static void
note_first_block(const GpuSortLoadPart *part, GpuSortLoadLeaves *leaves)
{
	GpuSortLoadLeaf *leaf;

	if (part->leaf == GPUSORT_NO_LEAF)
		return;
	leaf = &leaves->leaves[part->leaf - 1];
	leaf->first_block = Min(leaf->first_block, part->end.first_block);
}

void
gpusort_load_parts_end(GpuSortLoadParts *parts, GpuSortLoadLeaves *leaves)
{
	for (uint32 i = 0; i <= parts->mask; i++)
	{
		const GpuSortLoadPart *part = &parts->places[i];

		if (!part->is_open || part->end.block == InvalidBlockNumber)
			continue;
		tell_of_part(part);
		note_first_block(part, leaves);
	}
}
