/*
 * load_reinsert.c
 *		The rows of a table into its indexes, one by one; see load_reinsert.h.
 *
 * Rows are in the table in the order of their lines.
 */
#include "postgres.h"

#include "access/tableam.h"
#include "commands/copyfrom_internal.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "load/load_reinsert.h"
#include "pg_compat.h"
#include "pg_compat/tables.h"

static void
insert_row(ResultRelInfo *target, TupleTableSlot *slot, EState *estate)
{
	List	   *recheck = gpusort_insert_index_tuples(target, slot, estate);

	Assert(recheck == NIL);
	list_free(recheck);
	ResetPerTupleExprContext(estate);
}

static void
insert_rows(const GpuSortLoadState *state, ResultRelInfo *target, EState *estate)
{
	Relation	table = state->statement->table;
	CopyFromState copy = state->copy;
	TupleTableSlot *slot = table_slot_create(table, &estate->es_tupleTable);
	TableScanDesc scan = gpusort_table_beginscan(table, estate->es_snapshot);
	uint64		line = 0;

	copy->cur_lineno = state->first_line;
	while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		CHECK_FOR_INTERRUPTS();
		MemoryContextSwitchTo(GetPerTupleMemoryContext(estate));
		copy->cur_lineno += gpusort_lines_to_row(&state->lines, &line);
		insert_row(target, slot, estate);
	}
	table_endscan(scan);
}

void
gpusort_load_reinsert(const GpuSortLoadState *state)
{
	MemoryContext old = CurrentMemoryContext;
	EState	   *estate = CreateExecutorState();
	ResultRelInfo *target = makeNode(ResultRelInfo);

	estate->es_snapshot = RegisterSnapshot(GetLatestSnapshot());
	InitResultRelInfo(target, state->statement->table, 1, NULL, 0);
	ExecOpenIndices(target, false);
	insert_rows(state, target, estate);
	MemoryContextSwitchTo(old);
	ExecCloseIndices(target);
	ExecResetTupleTable(estate->es_tupleTable, false);
	UnregisterSnapshot(estate->es_snapshot);
	FreeExecutorState(estate);
}
