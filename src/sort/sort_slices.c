/*
 * sort_slices.c
 *		Reads rows in numbered slices; see sort_slices.h.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/tableam.h"
#include "executor/executor.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "sort/sort_slices.h"

bool
gpusort_sort_can_slice(Relation table)
{
	return table->rd_tableam == GetHeapamTableAmRoutine() && !RelationUsesLocalBuffers(table);
}

void
gpusort_sort_slices_open_view(GpuSortSliceReader *reader, const GpuSortSlices *slices,
							  const GpuSortView *view, TupleDesc desc)
{
	memset(reader, 0, sizeof(*reader));
	reader->slices = *slices;
	reader->slot = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
	reader->view = *view;
	gpusort_cursor_open_view(&reader->cursor, &reader->view);
}

void
gpusort_sort_slices_open_table(GpuSortSliceReader *reader, const GpuSortSlices *slices,
							   Relation table)
{
	memset(reader, 0, sizeof(*reader));
	reader->slices = *slices;
	reader->slot = table_slot_create(table, NULL);
	reader->scan = table_beginscan_strat(table, GetActiveSnapshot(), 0, NULL, true, false);
	/* count the sequential scan once, not for each slice */
	reader->scan->rs_flags &= ~SO_TYPE_SEQSCAN;
}

void
gpusort_sort_slices_close(GpuSortSliceReader *reader)
{
	ExecDropSingleTupleTableSlot(reader->slot);
	if (reader->scan != NULL)
		table_endscan(reader->scan);
}

void
gpusort_sort_slices_begin(GpuSortSliceReader *reader, uint64 number)
{
	const GpuSortSlices *slices = &reader->slices;
	uint64		from = slices->from + number * slices->step;
	uint64		to = Min(from + slices->step, slices->to);

	if (reader->scan == NULL)
	{
		gpusort_cursor_limit(&reader->cursor, from, to);
		return;
	}
	ExecClearTuple(reader->slot);
	table_rescan(reader->scan, NULL);
	heap_setscanlimits(reader->scan, (BlockNumber) from, (BlockNumber) (to - from));
}

bool
gpusort_sort_slices_next_row(GpuSortSliceReader *reader)
{
	if (reader->scan != NULL)
		return table_scan_getnextslot(reader->scan, ForwardScanDirection, reader->slot);
	return gpusort_cursor_fetch(&reader->cursor, true, reader->slot);
}
