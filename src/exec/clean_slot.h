/*
 * clean_slot.h
 *		Slots that show only the first columns of the minimal tuples stored in them.
 *
 * A tuple may have more attributes than its slot's descriptor: deforming stops at the last
 * attribute of the descriptor.  But code that fetches the minimal tuple from such a slot, or copies
 * it, would get all attributes.  So clean slots have operations of their own.  They hold minimal
 * tuples, but don't hand out the stored tuple: they return values, and tuples that are formed of
 * these.
 */
#ifndef GPUSORT_CLEAN_SLOT_H
#define GPUSORT_CLEAN_SLOT_H

#include "executor/tuptable.h"
#include "nodes/execnodes.h"

/* Makes an empty clean slot that lives as long as the query; gpusort_store_tuple() fills it. */
extern TupleTableSlot *gpusort_make_clean_slot(EState *estate, TupleDesc desc);

#endif							/* GPUSORT_CLEAN_SLOT_H */
