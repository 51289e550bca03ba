/*
 * load_indexes.h
 *		The indexes of a table that was empty: built when its rows are there.
 */
#ifndef GPUSORT_LOAD_INDEXES_H
#define GPUSORT_LOAD_INDEXES_H

#include "load/load_state.h"

/* Has the table no indexes, or no rows yet and only such as can be built afterwards? */
extern bool gpusort_load_indexes_are_ours(Relation table);

/* Keep others from table and indexes, if nobody is there; false: somebody is, or rows are. */
extern bool gpusort_load_lock_indexes(Relation table);

/*
 * Build them.  What is wrong with a row, such as a key that is there already, is COPY's error: the one
 * that PostgreSQL's raises when it comes to this row.
 */
extern void gpusort_load_build_indexes(const GpuSortLoadState *state);

#endif							/* GPUSORT_LOAD_INDEXES_H */
