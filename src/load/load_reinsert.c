/*
 * load_reinsert.c
 *		The rows of a table into its indexes, one by one; see load_reinsert.h.
 *
 * The line of a row is known by those before it: a record is a line, and newlines between quotes are more.  These are
 * in the values: of types that keep what they are given byte by byte, all of them.
 */
#include "postgres.h"

#include "access/tableam.h"
#include "commands/copyfrom_internal.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "load/load_reinsert.h"
#include "pg_compat.h"

/* Does a column have the bytes that were between the quotes? */
static bool
keeps_bytes(Form_pg_attribute att)
{
	Oid			function;
	Oid			ioparam;

	getTypeInputInfo(att->atttypid, &function, &ioparam);
	return function == F_TEXTIN || function == F_VARCHARIN || function == F_BPCHARIN || function == F_JSON_IN;
}

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

		if (!slot->tts_isnull[column] && keeps_bytes(TupleDescAttr(slot->tts_tupleDescriptor, column)))
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
	CopyFromState copy = state->copy;
	ErrorContextCallback context = {error_context_stack, CopyFromErrorCallback, copy};

	estate->es_snapshot = RegisterSnapshot(GetLatestSnapshot());
	InitResultRelInfo(target, state->statement->table, 1, NULL, 0);
	ExecOpenIndices(target, false);
	copy->line_buf_valid = false;
	copy->cur_attname = NULL;
	error_context_stack = &context;
	insert_rows(state, target, estate);
	error_context_stack = context.previous;
	MemoryContextSwitchTo(old);
	ExecCloseIndices(target);
	ExecResetTupleTable(estate->es_tupleTable, false);
	UnregisterSnapshot(estate->es_snapshot);
	FreeExecutorState(estate);
}
