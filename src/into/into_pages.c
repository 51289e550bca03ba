/*
 * into_pages.c
 *		Rows of a sorted result into those of a table, and these into pages.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/heaptoast.h"
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
 * The rules are those of heap_insert() and what it calls: a page ends before the first tuple that
 * would leave less of it free than the fillfactor wants, and rows that are long, or have values out
 * of line, go through the toaster.
 */

/* The bytes of a heap tuple's header before what it has in common with a MinimalTuple. */
#define OWN_HEADER_BYTES	offsetof(HeapTupleHeaderData, t_infomask2)

void
gpusort_into_begin_pages(GpuSortIntoPages *pages, const GpuSortIntoTarget *target,
						 GpuSortStorage *storage)
{
	const GpuSortTableOwner owner = {.xid = target->header.xmin,.cid = target->header.cmin,
		.frozen = target->header.frozen};

	memset(pages, 0, sizeof(*pages));
	pages->table = target->table;
	pages->header = target->header;
	pages->row_context = AllocSetContextCreate(CurrentMemoryContext, "gpusort row",
											   ALLOCSET_DEFAULT_SIZES);
	if (target->in_use)
	{
		pages->append = gpusort_table_append_begin(target->table, &owner);
		return;
	}
	gpusort_table_new_pages_begin(&pages->fresh, target->table, storage,
								  gpusort_table_inserter(&owner));
}

/* Returns room for a tuple, on the last page or a new one. */
static inline HeapTupleHeader
append(GpuSortIntoPages *pages, uint32 length)
{
	return pages->append != NULL ? gpusort_table_append_tuple(pages->append, length)
		: gpusort_table_new_pages_append(&pages->fresh, length);
}

/* Fills the header of a row as heap_insert() does, except t_ctid, which is set later. */
static inline void
fill_header(HeapTupleHeader tuple, const GpuSortIntoHeader *header)
{
	tuple->t_infomask &= ~HEAP_XACT_MASK;
	tuple->t_infomask2 &= ~HEAP2_XACT_MASK;
	tuple->t_infomask |= HEAP_XMAX_INVALID;
	HeapTupleHeaderSetXmin(tuple, header->xmin);
	if (header->frozen)
		HeapTupleHeaderSetXminFrozen(tuple);
	HeapTupleHeaderSetCmin(tuple, header->cmin);
	HeapTupleHeaderSetXmax(tuple, InvalidTransactionId);
}

/* Copies a stored tuple to where a heap tuple of "length" bytes will be. */
static inline void
copy_tuple(HeapTupleHeader to, const MinimalTuple tuple, uint32 length)
{
	memcpy((char *) to + OWN_HEADER_BYTES,
		   (const char *) tuple - MINIMAL_TUPLE_OFFSET + OWN_HEADER_BYTES,
		   length - OWN_HEADER_BYTES);
}

bool
gpusort_into_put_tuple(GpuSortIntoPages *pages, MinimalTuple tuple)
{
	uint32		length = tuple->t_len + MINIMAL_TUPLE_OFFSET;
	HeapTupleHeader placed;

	if (unlikely((tuple->t_infomask & HEAP_HASEXTERNAL) != 0 || length > TOAST_TUPLE_THRESHOLD))
		return false;
	placed = append(pages, length);
	copy_tuple(placed, tuple, length);
	fill_header(placed, &pages->header);
	return true;
}

void
gpusort_into_put_toasted(GpuSortIntoPages *pages, MinimalTuple stored)
{
	MemoryContext old = MemoryContextSwitchTo(pages->row_context);
	HeapTuple	tuple = heap_tuple_from_minimal_tuple(stored);
	int			options = pages->append != NULL ? 0
		: HEAP_INSERT_SKIP_FSM | (pages->header.frozen ? HEAP_INSERT_FROZEN : 0);
	HeapTupleHeader placed;

	pages->toasted = true;
	tuple->t_tableOid = RelationGetRelid(pages->table);
	ItemPointerSetInvalid(&tuple->t_self);
	ItemPointerSetInvalid(&tuple->t_data->t_ctid);
	fill_header(tuple->t_data, &pages->header);
	tuple = heap_toast_insert_or_update(pages->table, tuple, NULL, options);
	if (MAXALIGN(tuple->t_len) > MaxHeapTupleSize)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("row is too big: size %zu, maximum size %zu",
						MAXALIGN(tuple->t_len), MaxHeapTupleSize)));
	MemoryContextSwitchTo(old);
	placed = append(pages, tuple->t_len);
	memcpy(placed, tuple->t_data, tuple->t_len);
	MemoryContextReset(pages->row_context);
}

void
gpusort_into_drop_pages(GpuSortIntoPages *pages)
{
	if (pages->append != NULL)
		gpusort_table_append_forget(pages->append);
	else
		gpusort_table_new_pages_drop(&pages->fresh);
}

void
gpusort_into_claim_pages(GpuSortIntoPages *pages)
{
	if (pages->append != NULL)
		gpusort_table_append_claim(pages->append);
	else
		gpusort_table_new_pages_claim(&pages->fresh);
}

void
gpusort_into_write_pages(GpuSortIntoPages *pages)
{
	if (pages->append != NULL)
		gpusort_table_append_write(pages->append, false, pages->toasted);
	else
		gpusort_table_new_pages_write(&pages->fresh);
	pages->toasted = false;
}

void
gpusort_into_end_pages(GpuSortIntoPages *pages)
{
	if (pages->append != NULL)
		gpusort_table_append_end(pages->append);
}
