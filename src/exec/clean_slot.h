/*
 * clean_slot.h
 *		Slots that show the first columns of the minimal tuples in them.
 *
 * A tuple may have more attributes than its slot's descriptor: deforming stops at the
 * descriptor's last one.  But whoever fetches a minimal tuple from its slot, or copies it, would
 * get all of them.  So these slots are of a kind of their own: a minimal tuple's, from which the
 * tuple is not to be had, only values, and tuples that are formed of them.
 */
#ifndef GPUSORT_CLEAN_SLOT_H
#define GPUSORT_CLEAN_SLOT_H

#include "executor/tuptable.h"
#include "nodes/execnodes.h"

/* An empty slot that goes with the query; gpusort_store_tuple() fills it. */
extern TupleTableSlot *gpusort_make_clean_slot(EState *estate, TupleDesc desc);

#endif							/* GPUSORT_CLEAN_SLOT_H */
