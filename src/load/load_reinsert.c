/*
 * load_reinsert.c
 *		The rows of a table into its indexes, one by one; see load_reinsert.h.
 *
 * The line of a row is known by those before it: a record is a line, and newlines between quotes are more.  These are
 * in the values: records with others are not loaded here (load_columns.h).
 */
#include "postgres.h"

#include "access/tableam.h"
#include "commands/copyfrom_internal.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "load/load_columns.h"
#include "load/load_reinsert.h"
#include "pg_compat.h"
#include "pg_compat/tables.h"

static uint64
count_in_value(Datum value, char line)
{
	text	   *plain = DatumGetTextPP(value);
	const char *at = VARDATA_ANY(plain);
	const char *end = at + VARSIZE_ANY_EXHDR(plain);
	uint64		lines = 0;

	for (; at < end; at++)
		lines += *at == line;
	return lines;
}

static uint64
count_lines(const GpuSortLoadState *state, TupleTableSlot *slot)
{
	const GpuSortLoadTask *task = state->task;
	uint64		lines = 1;

	for (int i = 0; i < task->nfields; i++)
	{
		int			column = task->fields[i].attnum - 1;

		if (!slot->tts_isnull[column] && gpusort_load_type_keeps_bytes(TupleDescAttr(slot->tts_tupleDescriptor, column)->atttypid))
			lines += count_in_value(slot->tts_values[column], gs_line_byte(&task->dialect));
	}
	return lines;
}

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
	const gs_dialect *dialect = &state->task->dialect;

	copy->cur_lineno = state->first_line;
	while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		CHECK_FOR_INTERRUPTS();
		MemoryContextSwitchTo(GetPerTupleMemoryContext(estate));
		if (dialect->csv)
			slot_getallattrs(slot);
		copy->cur_lineno += dialect->csv ? count_lines(state, slot) : 1;
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
