/*
 * sort_handover.c
 *		Going on in PostgreSQL's tuplesort.
 *
 * The one fallback of the host side: whatever stops us, the rows collected so
 * far move into a tuplesort, which has work_mem of its own and spills to disk,
 * and everything that follows goes there.  Our memory is given back while the
 * rows move, so that the sum stays within what a sort is allowed plus work_mem.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/tuplesort.h"

#include "sort_internal.h"

/* Rows are given back in pieces of this size. */
#define DISCARD_BYTES	((size_t) 8 << 20)

void
gpusort_hand_over(GpuSort *sort, GpuSortHandover why)
{
	TupleTableSlot *slot = gpusort_row_slot(sort);
	MemoryContext old = MemoryContextSwitchTo(sort->context);
	size_t		discarded = 0;

	gpusort_service_end(sort);
	sort->stats.handover = why;
	sort->stats.handover_rows = sort->nrows;
	sort->tuplesort = tuplesort_begin_heap(sort->desc, sort->spec.nkeys, sort->spec.attnos,
										   sort->spec.sortops, sort->spec.collations,
										   sort->spec.nulls_first, work_mem, NULL,
										   sort->random_access ? TUPLESORT_RANDOMACCESS
										   : TUPLESORT_NONE);
	MemoryContextSwitchTo(old);

	if (sort->nrows > 0)
		gpusort_discard_planes(sort);
	for (uint64 id = 0; id < sort->nrows; id++)
	{
		MinimalTuple tuple = row_by_id(sort, (uint32) id);
		size_t		offset = (char *) tuple - sort->rows->base;

		if (offset - discarded >= DISCARD_BYTES)
		{
			CHECK_FOR_INTERRUPTS();
			gpusort_range_discard(sort->rows, discarded, offset);
			discarded = offset / DISCARD_BYTES * DISCARD_BYTES;
		}
		ExecStoreMinimalTuple(tuple, slot, false);
		tuplesort_puttupleslot(sort->tuplesort, slot);
	}
	ExecClearTuple(slot);
	if (sort->nrows > 0)
	{
		gpusort_range_discard(sort->rows, discarded, sort->rows->usable);
		gpusort_range_discard(sort->row_refs, 0, sort->row_refs->usable);
	}
	sort->nrows = 0;
	sort->rows_used = 0;
}
