/*
 * out_source.c
 *		Reads rows in numbered slices; see out_source.h.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/tableam.h"
#include "executor/executor.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "bulk/out_source.h"

bool
gpusort_out_can_slice(Relation table)
{
	return table->rd_tableam == GetHeapamTableAmRoutine() && !RelationUsesLocalBuffers(table);
}

void
gpusort_out_open_view(GpuSortOutSource *source, const GpuSortOutSlices *slices,
					  const GpuSortView *view, TupleDesc desc)
{
	memset(source, 0, sizeof(*source));
	source->slices = *slices;
	source->slot = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
	source->view = *view;
	gpusort_cursor_open_view(&source->cursor, &source->view);
}

void
gpusort_out_open_table(GpuSortOutSource *source, const GpuSortOutSlices *slices, Relation table)
{
	memset(source, 0, sizeof(*source));
	source->slices = *slices;
	source->slot = table_slot_create(table, NULL);
	source->scan = table_beginscan_strat(table, GetActiveSnapshot(), 0, NULL, true, false);
	/* count the sequential scan once, not for each slice */
	source->scan->rs_flags &= ~SO_TYPE_SEQSCAN;
}

void
gpusort_out_close_source(GpuSortOutSource *source)
{
	ExecDropSingleTupleTableSlot(source->slot);
	if (source->scan != NULL)
		table_endscan(source->scan);
}

void
gpusort_out_begin_slice(GpuSortOutSource *source, uint64 number)
{
	const GpuSortOutSlices *slices = &source->slices;
	uint64		from = slices->from + number * slices->step;
	uint64		to = Min(from + slices->step, slices->to);

	if (source->scan == NULL)
	{
		gpusort_cursor_limit(&source->cursor, from, to);
		return;
	}
	ExecClearTuple(source->slot);
	table_rescan(source->scan, NULL);
	heap_setscanlimits(source->scan, (BlockNumber) from, (BlockNumber) (to - from));
}

bool
gpusort_out_next_row(GpuSortOutSource *source)
{
	if (source->scan != NULL)
		return table_scan_getnextslot(source->scan, ForwardScanDirection, source->slot);
	return gpusort_cursor_fetch(&source->cursor, true, source->slot);
}
