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

#include "interrupts.h"
#include "sort/sort_internal.h"

/* Rows are given back in pieces of this size. */
#define DISCARD_BYTES	((size_t) 8 << 20)

void
gpusort_discard_read_rows(GpuSortRange *rows, size_t *discarded, size_t offset)
{
	if (offset - *discarded < DISCARD_BYTES)
		return;
	CHECK_FOR_INTERRUPTS();
	gpusort_range_discard(rows, *discarded, offset);
	*discarded = offset / DISCARD_BYTES * DISCARD_BYTES;
}

void
gpusort_move_to_tuplesort(GpuSort *sort)
{
	TupleTableSlot *slot = gpusort_row_slot(sort);
	bool		in_order = sort->stats.joined_rows == 0;
	size_t		discarded = 0;

	if (sort->rows.count == 0)
		return;
	gpusort_discard_planes(sort);
	for (uint64 id = 0; id < sort->rows.count; id++)
	{
		MinimalTuple tuple = gpusort_row_at(&sort->rows.places, (uint32) id);

		if (in_order)
			gpusort_discard_read_rows(sort->rows.store, &discarded, (char *) tuple - sort->rows.places.base);
		else if (id % GPUSORT_INTERRUPT_ROWS == 0)
			CHECK_FOR_INTERRUPTS();
		ExecStoreMinimalTuple(tuple, slot, false);
		tuplesort_puttupleslot(sort->tuplesort, slot);
	}
	ExecClearTuple(slot);
	gpusort_range_discard(sort->rows.store, discarded, sort->rows.store->usable);
	gpusort_range_discard(sort->rows.refs, 0, sort->rows.refs->usable);
	sort->rows.count = 0;
	sort->rows.used = 0;
}

void
gpusort_hand_over(GpuSort *sort, GpuSortHandover why)
{
	MemoryContext old = MemoryContextSwitchTo(sort->context);

	gpusort_service_end(sort);
	gpusort_reorder_forget(sort);
	sort->stats.handover = why;
	sort->stats.handover_rows = sort->rows.count;
	sort->tuplesort = tuplesort_begin_heap(sort->desc, sort->spec.nkeys, sort->spec.attnos,
										   sort->spec.sortops, sort->spec.collations,
										   sort->spec.nulls_first, work_mem, NULL,
										   sort->random_access ? TUPLESORT_RANDOMACCESS
										   : TUPLESORT_NONE);
	MemoryContextSwitchTo(old);
	gpusort_move_to_tuplesort(sort);
}
