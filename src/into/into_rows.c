/*
 * into_rows.c
 *		Making tuples of a table from rows of a sorted result; see into_rows.h.
 *
 * This does what the executor does between the node below ModifyTable and the table: the projection
 * of a SubqueryScan, and ExecConstraints().
 */
#include "postgres.h"

#include "executor/executor.h"
#include "utils/memutils.h"

#include "into/into_rows.h"
#include "pg_compat.h"
#include "pg_compat/executor.h"

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
