/*
 * cluster_keys.c
 *		Makes the rows that a table's versions are sorted as, if the index has expressions; see
 *		cluster_version_private.h.
 */
#include "postgres.h"

#include "catalog/index.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "nodes/execnodes.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"

#include "cluster/cluster_version_private.h"
#include "pg_compat/executor.h"

struct GpuSortClusterKeys
{
	IndexInfo  *info;
	EState	   *estate;
	TupleTableSlot *tuple;		/* tuple of the table whose keys are computed */
	TupleTableSlot *row;
};

bool
gpusort_cluster_has_keys(Relation index)
{
	for (int i = 0; i < IndexRelationGetNumberOfKeyAttributes(index); i++)
		if (index->rd_index->indkey.values[i] == 0)
			return true;
	return false;
}

TupleDesc
gpusort_cluster_keys_desc(Relation heap, Relation index)
{
	int			nkeys = IndexRelationGetNumberOfKeyAttributes(index);
	TupleDesc	desc = CreateTemplateTupleDesc(1 + nkeys);
	List	   *expressions = RelationGetIndexExpressions(index);
	ListCell   *expression = list_head(expressions);

	TupleDescInitEntry(desc, 1, "version", BYTEAOID, -1, 0);
	gpusort_set_plain(desc, 1);
	for (int i = 0; i < nkeys; i++)
	{
		AttrNumber	attno = GPUSORT_CLUSTER_KEY_ATTNO(i);
		AttrNumber	column = index->rd_index->indkey.values[i];

		if (column != 0)
			TupleDescCopyEntry(desc, attno, RelationGetDescr(heap), column);
		else
		{
			Node	   *node = lfirst(expression);

			TupleDescInitEntry(desc, attno, "key", exprType(node), exprTypmod(node), 0);
			TupleDescInitEntryCollation(desc, attno, exprCollation(node));
			expression = lnext(expressions, expression);
		}
	}
	gpusort_finish_tuple_desc(desc);
	return desc;
}

GpuSortClusterKeys *
gpusort_cluster_keys_begin(Relation heap, Relation index)
{
	GpuSortClusterKeys *keys = palloc0(sizeof(GpuSortClusterKeys));

	keys->info = BuildIndexInfo(index);
	keys->estate = CreateExecutorState();
	/*
	 * a copy of the descriptor spares slots the counting of references; its constraints have the
	 * values of columns that were added later
	 */
	keys->tuple = MakeSingleTupleTableSlot(CreateTupleDescCopyConstr(RelationGetDescr(heap)),
										   &TTSOpsHeapTuple);
	keys->row = MakeSingleTupleTableSlot(gpusort_cluster_keys_desc(heap, index), &TTSOpsVirtual);
	GetPerTupleExprContext(keys->estate)->ecxt_scantuple = keys->tuple;
	return keys;
}

void
gpusort_cluster_keys_end(GpuSortClusterKeys *keys)
{
	ExecDropSingleTupleTableSlot(keys->row);
	ExecDropSingleTupleTableSlot(keys->tuple);
	FreeExecutorState(keys->estate);
}

void
gpusort_cluster_keys_compute(GpuSortClusterKeys *keys, HeapTuple tuple)
{
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];
	int			nkeys = keys->info->ii_NumIndexKeyAttrs;

	ExecClearTuple(keys->row);
	ResetPerTupleExprContext(keys->estate);
	ExecStoreHeapTuple(tuple, keys->tuple, false);
	FormIndexDatum(keys->info, keys->tuple, keys->estate, values, isnull);
	memcpy(&keys->row->tts_values[1], values, nkeys * sizeof(Datum));
	memcpy(&keys->row->tts_isnull[1], isnull, nkeys * sizeof(bool));
}

TupleTableSlot *
gpusort_cluster_keys_row(GpuSortClusterKeys *keys, HeapTuple packed)
{
	MinimalTuple version = (MinimalTuple) ((char *) packed->t_data + MINIMAL_TUPLE_OFFSET);
	char	   *datum = (char *) version - VARHDRSZ;

	/*
	 * the varlena's header takes the place of a part of the heap tuple's header that a version does
	 * not need
	 */
	StaticAssertStmt(MINIMAL_TUPLE_OFFSET >= VARHDRSZ, "no room for a varlena's header");
	version->t_len = packed->t_len - MINIMAL_TUPLE_OFFSET;
	SET_VARSIZE(datum, VARHDRSZ + version->t_len);
	keys->row->tts_values[0] = PointerGetDatum(datum);
	keys->row->tts_isnull[0] = false;
	return ExecStoreVirtualTuple(keys->row);
}

bool
gpusort_cluster_keys_are_safe(Relation index)
{
	Query	   *query = makeNode(Query);

	query->targetList = RelationGetIndexExpressions(index);
	return max_parallel_hazard(query) == PROPARALLEL_SAFE;
}
