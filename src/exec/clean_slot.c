/*
 * clean_slot.c
 *		Slots that show only the first columns of the minimal tuples stored in them; see
 *		clean_slot.h.
 */
#include "postgres.h"

#include "executor/executor.h"

#include "exec/clean_slot.h"
#include "pg_compat/executor.h"

static HeapTuple
copy_heap_tuple(TupleTableSlot *slot)
{
	slot_getallattrs(slot);
	return heap_form_tuple(slot->tts_tupleDescriptor, slot->tts_values, slot->tts_isnull);
}

static MinimalTuple
copy_minimal_tuple(GPUSORT_COPY_MINIMAL_TUPLE_PARAMETERS)
{
	slot_getallattrs(slot);
	return gpusort_form_minimal_tuple(slot);
}

/*
 * Returns the operations of clean slots: those of minimal tuple slots, but for the functions that
 * hand out the stored tuple.
 */
static const TupleTableSlotOps *
clean_slot_ops(void)
{
	static TupleTableSlotOps ops;

	if (ops.base_slot_size == 0)
	{
		ops = TTSOpsMinimalTuple;
		ops.get_minimal_tuple = NULL;
		ops.copy_heap_tuple = copy_heap_tuple;
		ops.copy_minimal_tuple = copy_minimal_tuple;
	}
	return &ops;
}

TupleTableSlot *
gpusort_make_clean_slot(EState *estate, TupleDesc desc)
{
	return ExecInitExtraTupleSlot(estate, desc, clean_slot_ops());
}
