/*
 * load_partitions.c
 *		The partitions that a participant puts rows into; see load_partitions_private.h.
 */
#include "postgres.h"

#include "access/attmap.h"
#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/sysattr.h"
#include "access/tupconvert.h"
#include "catalog/catalog.h"
#include "executor/execPartition.h"
#include "executor/executor.h"
#include "nodes/execnodes.h"
#include "optimizer/optimizer.h"
#include "partitioning/partdesc.h"
#include "storage/bufmgr.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/partcache.h"
#include "utils/rel.h"

#include "load/load_partitions_private.h"
#include "load/load_statement_private.h"
#include "load/load_values_private.h"
#include "pg_compat/partitions.h"
#include "settings.h"
#include "table/table.h"

/* ---------- routing ---------- */

/*
 * As in CopyFrom(), there is an executor state whose result relation is the partitioned table.  So
 * partitions are locked when they are needed.  The constraint of a default partition, and that of
 * the table if it is a partition itself, are checked by the server.
 */

typedef struct GpuSortLoadRouting GpuSortLoadRouting;

struct GpuSortLoadRouting
{
	Relation	root;
	EState	   *estate;
	ModifyTableState *state;
	ResultRelInfo *result;
	PartitionTupleRouting *routing;
	TupleTableSlot *slot;		/* the row to be routed */
	bool	   *wanted;			/* by attribute, whether routing looks at its value */
	Datum		unwanted;		/* stands for strings that routing does not look at */
};

static void
begin_result(GpuSortLoadRouting *routing)
{
	ModifyTableState *state = makeNode(ModifyTableState);

	gpusort_init_range_table(routing->estate, routing->root);
	routing->result = makeNode(ResultRelInfo);
	InitResultRelInfo(routing->result, routing->root, 1, NULL, 0);
	state->ps.state = routing->estate;
	state->operation = CMD_INSERT;
	state->mt_nrels = 1;
	state->resultRelInfo = state->rootResultRelInfo = routing->result;
	routing->state = state;
	routing->routing = ExecSetupPartitionTupleRouting(routing->estate, routing->root);
}

static void
want_attributes(GpuSortLoadRouting *routing, Node *expression)
{
	Bitmapset  *attributes = NULL;
	int			member = -1;

	pull_varattnos(expression, 1, &attributes);
	while ((member = bms_next_member(attributes, member)) >= 0)
	{
		AttrNumber	attnum = member + FirstLowInvalidHeapAttributeNumber;

		if (attnum > 0)
			routing->wanted[attnum - 1] = true;
	}
	bms_free(attributes);
}

/*
 * Finds out which attributes routing looks at: those in the partition key and in the constraint of
 * the table.  If there are partitioned tables below, it may be any attribute.
 */
static void
find_wanted(GpuSortLoadRouting *routing)
{
	Relation	root = routing->root;
	PartitionKey key = RelationGetPartitionKey(root);
	PartitionDesc partitions = RelationGetPartitionDesc(root, false);
	bool		all = false;

	for (int i = 0; i < partitions->nparts; i++)
		all |= !partitions->is_leaf[i];
	routing->wanted = palloc(RelationGetNumberOfAttributes(root) * sizeof(bool));
	memset(routing->wanted, all, RelationGetNumberOfAttributes(root) * sizeof(bool));
	for (int i = 0; i < key->partnatts; i++)
	{
		if (key->partattrs[i] > 0)
			routing->wanted[key->partattrs[i] - 1] = true;
	}
	want_attributes(routing, (Node *) key->partexprs);
	want_attributes(routing, (Node *) RelationGetPartitionQual(root));
	routing->unwanted = PointerGetDatum(cstring_to_text(""));
}

/* Begins to route rows to the partitions of a table; allocates in the current context. */
static GpuSortLoadRouting *
gpusort_routing_begin(Relation root)
{
	GpuSortLoadRouting *routing = palloc0(sizeof(GpuSortLoadRouting));
	MemoryContext old;

	routing->root = root;
	routing->estate = CreateExecutorState();
	old = MemoryContextSwitchTo(routing->estate->es_query_cxt);
	begin_result(routing);
	find_wanted(routing);
	routing->slot = ExecInitExtraTupleSlot(routing->estate, RelationGetDescr(root), &TTSOpsVirtual);
	MemoryContextSwitchTo(old);
	return routing;
}

static Datum
get_datum(const GpuSortLoadRouting *routing, int attribute, const GpuSortLoadValue *value)
{
	text	   *copy;

	if (value->text == NULL)
		return value->datum;
	if (!routing->wanted[attribute])
		return routing->unwanted;
	copy = palloc(VARHDRSZ + value->length);
	SET_VARSIZE(copy, VARHDRSZ + value->length);
	memcpy(VARDATA(copy), value->text, value->length);
	return PointerGetDatum(copy);
}

/*
 * Returns the partition of a row, open and locked.  Raises an error if there is none, or if it does
 * not take the row.
 */
static ResultRelInfo *
gpusort_routing_find(GpuSortLoadRouting *routing, const GpuSortLoadValue *values)
{
	TupleTableSlot *slot = routing->slot;
	EState	   *estate = routing->estate;
	MemoryContext old;

	ResetPerTupleExprContext(estate);
	old = MemoryContextSwitchTo(GetPerTupleMemoryContext(estate));
	ExecClearTuple(slot);
	for (int i = 0; i < slot->tts_tupleDescriptor->natts; i++)
	{
		slot->tts_isnull[i] = values[i].is_null;
		slot->tts_values[i] = values[i].is_null ? (Datum) 0 : get_datum(routing, i, &values[i]);
	}
	ExecStoreVirtualTuple(slot);
	MemoryContextSwitchTo(old);
	return ExecFindPartition(routing->state, routing->result, routing->routing, slot, estate);
}

/*
 * Returns where the columns of a partition are found in the root, or NULL if both have the same
 * columns.
 */
static const AttrMap *
gpusort_routing_map(GpuSortLoadRouting *routing, ResultRelInfo *partition)
{
	TupleConversionMap *map = gpusort_root_to_child_map(partition, routing->estate);

	return map != NULL ? map->attrMap : NULL;
}

static void
gpusort_routing_end(GpuSortLoadRouting *routing)
{
	EState	   *estate = routing->estate;

	ExecCleanupTupleRouting(routing->state, routing->routing);
	ExecResetTupleTable(estate->es_tupleTable, false);
	ExecCloseRangeTableRelations(estate);
	FreeExecutorState(estate);
	pfree(routing);
}

/* ---------- partitions ---------- */

/*
 * The server's routing returns a ResultRelInfo.  Our own struct for its partition is kept in the
 * field in which CopyFrom() has its buffer of the partition's rows, ri_CopyMultiInsertBuffer.
 */

struct GpuSortLoadPartitions
{
	const GpuSortLoadTask *task;
	GpuSortLoadParts *parts;
	GpuSortLoadRouting *routing;
	GpuSortTableSink *sink;
	GpuSortLoadPartition *first;
	MemoryContext context;
};

GpuSortLoadPartitions *
gpusort_load_partitions_begin(const GpuSortLoadTask *task, Relation root, GpuSortLoadParts *parts,
							  GpuSortTableSink *sink)
{
	GpuSortLoadPartitions *partitions = palloc0(sizeof(GpuSortLoadPartitions));

	partitions->task = task;
	partitions->parts = parts;
	partitions->routing = gpusort_routing_begin(root);
	partitions->sink = sink;
	partitions->context = CurrentMemoryContext;
	return partitions;
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
		   gpusort_table_has_space(table, (double) RelationGetNumberOfBlocks(table) * BLCKSZ);
}

static GpuSortLoadPartition *
begin_partition(GpuSortLoadPartitions *partitions, ResultRelInfo *result)
{
	Relation	table = result->ri_RelationDesc;
	GpuSortLoadPartition *partition;
	GpuSortLoadPart *part = gpusort_load_parts_open(partitions->parts, RelationGetRelid(table));

	if (part == NULL || !partition_is_ours(table, part) || leaves_space(table))
		return NULL;
	partition = palloc0(sizeof(GpuSortLoadPartition));
	gpusort_target_begin(&partition->target,
						 gpusort_table_sink_add(partitions->sink, table, &part->end, 0));
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
gpusort_load_partitions_find(GpuSortLoadPartitions *partitions, const GpuSortLoadValue *values)
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
gpusort_load_partitions_end(GpuSortLoadPartitions *partitions)
{
	for (GpuSortLoadPartition *partition = partitions->first; partition != NULL;
		 partition = partition->next)
		gpusort_computer_end(partition->computer);
	gpusort_routing_end(partitions->routing);
}
