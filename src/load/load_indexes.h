/*
 * load_indexes.h
 *		Whether the indexes of a table can be filled when its rows are there, and the locks for it.
 */
#ifndef GPUSORT_LOAD_INDEXES_H
#define GPUSORT_LOAD_INDEXES_H

#include "utils/relcache.h"

/* Has the table no indexes, or no rows yet and only such as can be built afterwards? */
extern bool gpusort_load_indexes_are_ours(Relation table);

/* Keep others from table and indexes, if nobody is there; false: somebody is, or rows are. */
extern bool gpusort_load_lock_indexes(Relation table);

#endif							/* GPUSORT_LOAD_INDEXES_H */
