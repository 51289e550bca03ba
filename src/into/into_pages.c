/*
 * into_pages.c
 *		Rows of a sorted result into those of a table, and these into pages.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "into/into_private.h"
#include "pg_compat.h"
#include "pg_compat/executor.h"

/* ---------- rows ---------- */

/*
 * This does what the executor does between the node below ModifyTable and the table: the projection
 * of a SubqueryScan, and ExecConstraints().
 */

static ProjectionInfo *
begin_projection(const GpuSortIntoTarget *target, TupleDesc desc)
{
	TupleTableSlot *slot =
		MakeSingleTupleTableSlot(RelationGetDescr(target->table), &TTSOpsVirtual);

	return ExecBuildProjectionInfo(target->columns, CreateExprContext(target->estate), slot, NULL,
								   desc);
}

/*
 * Makes a ResultRelInfo for the checks of this GpuSortIntoRows alone: an error that is raised
 * elsewhere can't have ended one of its expressions in the middle.
 */
static ResultRelInfo *
begin_checks(const GpuSortIntoTarget *target)
{
	ResultRelInfo *checked = makeNode(ResultRelInfo);

	InitResultRelInfo(checked, target->table, target->relid, NULL, 0);
	return checked;
}

void
gpusort_into_begin_rows(GpuSortIntoRows *rows, const GpuSortIntoTarget *target, TupleDesc desc,
						bool stored)
{
	memset(rows, 0, sizeof(*rows));
	rows->stored = stored && target->columns == NIL;
	rows->may_fail = target->columns != NIL || target->checked;
	rows->estate = target->estate;
	if (target->columns != NIL)
		rows->projection = begin_projection(target, desc);
	if (target->checked)
		rows->checked = begin_checks(target);
	rows->context = AllocSetContextCreate(CurrentMemoryContext, "gpusort row", ALLOCSET_DEFAULT_SIZES);
}

static TupleTableSlot *
project(ProjectionInfo *projection, TupleTableSlot *slot)
{
	ResetExprContext(projection->pi_exprContext);
	projection->pi_exprContext->ecxt_scantuple = slot;
	return ExecProject(projection);
}

static void
check(GpuSortIntoRows *rows, TupleTableSlot *slot)
{
	Relation	table = rows->checked->ri_RelationDesc;

	ResetPerTupleExprContext(rows->estate);
	slot->tts_tableOid = RelationGetRelid(table);
	if (RelationGetDescr(table)->constr != NULL)
		ExecConstraints(rows->checked, slot, rows->estate);
	if (table->rd_rel->relispartition)
		ExecPartitionCheck(rows->checked, slot, rows->estate, true);
}

static MinimalTuple
form(GpuSortIntoRows *rows, TupleTableSlot *slot)
{
	MemoryContext old;
	MinimalTuple tuple;

	slot_getallattrs(slot);
	MemoryContextReset(rows->context);
	old = MemoryContextSwitchTo(rows->context);
	tuple = gpusort_form_minimal_row(slot);
	MemoryContextSwitchTo(old);
	return tuple;
}

void
gpusort_into_end_rows(GpuSortIntoRows *rows)
{
	if (rows->projection != NULL)
		ExecDropSingleTupleTableSlot(rows->projection->pi_state.resultslot);
}

MinimalTuple
gpusort_into_make_tuple(GpuSortIntoRows *rows, TupleTableSlot *slot)
{
	if (rows->projection != NULL)
		slot = project(rows->projection, slot);
	if (rows->checked != NULL)
		check(rows, slot);
	return rows->stored ? ((MinimalTupleTableSlot *) slot)->mintuple : form(rows, slot);
}

/* ---------- pages ---------- */

/*
 * The rules are those of heap_insert() and what it calls: rows that are long, or have values out of
 * line, go through the toaster.
 */

/* The bytes of a heap tuple's header before what it has in common with a MinimalTuple. */
#define OWN_HEADER_BYTES	offsetof(HeapTupleHeaderData, t_infomask2)

GpuSortTableSink *
gpusort_into_begin_sink(const GpuSortIntoTarget *target, GpuSortStorage *storage)
{
	/* INSERT has no ring of buffers in PostgreSQL, either */
	static const GpuSortTableBuffers buffers = {.kept = MaxBlockNumber};

	if (target->in_use)
		return gpusort_table_sink_append(target->table, &target->owner, &buffers, 0);
	return gpusort_table_sink_new(target->table, storage, &target->owner, HEAP_INSERT_SKIP_FSM);
}

/*
 * Makes a heap tuple of "length" bytes of a stored one, with the header of its new owner, as
 * heap_insert() does; t_ctid is set later.
 */
static inline void
place_tuple(HeapTupleHeader to, const MinimalTuple tuple, uint32 length,
			const HeapTupleHeaderData *header)
{
	memcpy((char *) to + OWN_HEADER_BYTES,
		   (const char *) tuple - MINIMAL_TUPLE_OFFSET + OWN_HEADER_BYTES,
		   length - OWN_HEADER_BYTES);
	to->t_choice.t_heap = header->t_choice.t_heap;
	to->t_infomask2 &= ~HEAP2_XACT_MASK;
	to->t_infomask = (to->t_infomask & ~HEAP_XACT_MASK) | header->t_infomask;
}

bool
gpusort_into_put_tuple(GpuSortTableTail *tail, MinimalTuple tuple)
{
	uint32		length = tuple->t_len + MINIMAL_TUPLE_OFFSET;

	if (unlikely(gpusort_table_needs_toaster(tuple->t_infomask, length)))
		return false;
	place_tuple(gpusort_table_room(tail, length), tuple, length, &tail->header);
	return true;
}

void
gpusort_into_put_toasted(GpuSortTableTail *tail, MinimalTuple tuple)
{
	uint32		length = tuple->t_len + MINIMAL_TUPLE_OFFSET;

	place_tuple(gpusort_table_toaster_room(tail, length), tuple, length, &tail->header);
	gpusort_table_toast(tail);
}
