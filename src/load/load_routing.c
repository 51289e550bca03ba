/*
 * load_routing.c
 *		Finding the partition of a row; see load_routing.h.
 *
 * As in CopyFrom(), there is an executor state whose result relation is the partitioned table.  So
 * partitions are locked when they are needed.  The constraint of a default partition, and that of
 * the table if it is a partition itself, are checked by the server.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/tupconvert.h"
#include "access/sysattr.h"
#include "executor/execPartition.h"
#include "executor/executor.h"
#include "optimizer/optimizer.h"
#include "partitioning/partdesc.h"
#include "utils/builtins.h"
#include "utils/partcache.h"

#include "load/load_routing.h"
#include "pg_compat/partitions.h"

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

GpuSortLoadRouting *
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

ResultRelInfo *
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

const AttrMap *
gpusort_routing_map(GpuSortLoadRouting *routing, ResultRelInfo *partition)
{
	TupleConversionMap *map = gpusort_root_to_child_map(partition, routing->estate);

	return map != NULL ? map->attrMap : NULL;
}

void
gpusort_routing_end(GpuSortLoadRouting *routing)
{
	EState	   *estate = routing->estate;

	ExecCleanupTupleRouting(routing->state, routing->routing);
	ExecResetTupleTable(estate->es_tupleTable, false);
	ExecCloseRangeTableRelations(estate);
	FreeExecutorState(estate);
	pfree(routing);
}
