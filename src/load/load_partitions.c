/*
 * load_partitions.c
 *		The partitions that a participant puts rows into; see load_partitions.h.
 *
 * The server's routing returns a ResultRelInfo.  Our own struct for its partition is kept in the
 * field in which CopyFrom() has its buffer of the partition's rows, ri_CopyMultiInsertBuffer.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "catalog/catalog.h"
#include "storage/bufmgr.h"
#include "utils/memutils.h"

#include "heap/heap_append.h"
#include "load/load_entries.h"
#include "load/load_partitions.h"
#include "load/load_routing.h"
#include "load/load_tree.h"
#include "settings.h"

struct GpuSortLoadPartitions
{
	const GpuSortLoadTask *task;
	GpuSortLoadParts *parts;
	GpuSortLoadRouting *routing;
	GpuSortBuckets *buckets;
	GpuSortLoadPartition *first;
	MemoryContext context;
};

GpuSortLoadPartitions *
gpusort_partitions_begin(const GpuSortLoadTask *task, Relation root, GpuSortLoadParts *parts)
{
	GpuSortLoadPartitions *partitions = palloc0(sizeof(GpuSortLoadPartitions));

	partitions->task = task;
	partitions->parts = parts;
	partitions->routing = gpusort_routing_begin(root);
	partitions->buckets = gpusort_buckets_begin(&task->owner);
	partitions->context = CurrentMemoryContext;
	return partitions;
}

GpuSortBuckets *
gpusort_partitions_buckets(GpuSortLoadPartitions *partitions)
{
	return partitions->buckets;
}

/*
 * Returns whether the indexes of a partition, if it has any, can be filled at the end.  Leaves that
 * are not in use were locked when they were looked at, so that nothing can have changed their
 * indexes.
 */
static bool
indexes_are_ours(Relation table, const GpuSortLoadPart *part)
{
	if (part->leaf == GPUSORT_NO_LEAF)
		return RelationGetIndexList(table) == NIL;
	return !part->is_used || gpusort_load_entries_are_ours(table);
}

/*
 * Returns whether rows can be put into a partition.  What was found in the catalogs before it was
 * locked may have changed.
 */
static bool
partition_is_ours(Relation table, const GpuSortLoadPart *part)
{
	GpuSortLoadComputing ignored;

	return table->rd_rel->relkind == RELKIND_RELATION &&
		table->rd_tableam == GetHeapamTableAmRoutine() &&
		!IsCatalogRelation(table) && !RelationIsUsedAsCatalogTable(table) &&
		!gpusort_load_has_triggers(table) &&
		indexes_are_ours(table, part) && gpusort_load_why_not_stored(table, &ignored) == NULL;
}

/*
 * Returns whether the partition has free space for a good part of as many bytes as it has.  We
 * would not use this space, because our rows go to the end.
 */
static bool
leaves_space(Relation table)
{
	return !gpusort_force &&
		gpusort_heap_has_space(table, (double) RelationGetNumberOfBlocks(table) * BLCKSZ);
}

static GpuSortLoadPartition *
begin_partition(GpuSortLoadPartitions *partitions, ResultRelInfo *result)
{
	Relation	table = result->ri_RelationDesc;
	GpuSortLoadPartition *partition;
	GpuSortLoadPart *part = gpusort_parts_open(partitions->parts, RelationGetRelid(table));

	if (part == NULL || !partition_is_ours(table, part) || leaves_space(table))
		return NULL;
	partition = palloc0(sizeof(GpuSortLoadPartition));
	gpusort_target_begin(&partition->target, table);
	partition->target.buckets = partitions->buckets;
	partition->target.bucket = gpusort_bucket_begin(partitions->buckets, table, &part->tail);
	partition->leaf = part->leaf;
	partition->computer = gpusort_computer_begin(partitions->task, table, GPUSORT_COMPUTE_STORED);
	partition->map = gpusort_routing_map(partitions->routing, result);
	if (partition->map != NULL)
		partition->values = palloc0(partition->target.natts * sizeof(GpuSortLoadValue));
	partition->next = partitions->first;
	partitions->first = partition;
	return partition;
}

GpuSortLoadPartition *
gpusort_partitions_find(GpuSortLoadPartitions *partitions, const GpuSortLoadValue *values)
{
	ResultRelInfo *result = gpusort_routing_find(partitions->routing, values);

	if (unlikely(result->ri_CopyMultiInsertBuffer == NULL))
	{
		MemoryContext old = MemoryContextSwitchTo(partitions->context);

		result->ri_CopyMultiInsertBuffer =
			(struct CopyMultiInsertBuffer *) begin_partition(partitions, result);
		MemoryContextSwitchTo(old);
	}
	return (GpuSortLoadPartition *) result->ri_CopyMultiInsertBuffer;
}

GpuSortLoadValue *
gpusort_partition_values(GpuSortLoadPartition *partition, GpuSortLoadValue *values)
{
	static const GpuSortLoadValue null = {.is_null = true};

	if (partition->map == NULL)
		return values;
	for (int i = 0; i < partition->target.natts; i++)
	{
		AttrNumber	attnum = partition->map->attnums[i];

		partition->values[i] = attnum != 0 ? values[attnum - 1] : null;
	}
	return partition->values;
}

void
gpusort_partitions_end(GpuSortLoadPartitions *partitions)
{
	for (GpuSortLoadPartition *partition = partitions->first; partition != NULL;
		 partition = partition->next)
		gpusort_computer_end(partition->computer);
	gpusort_buckets_end(partitions->buckets);
	gpusort_routing_end(partitions->routing);
}
