/*
 * load_indexes.h
 *		Whether the indexes of a table can be filled when its rows are there, and the locks for it.
 */
#ifndef GPUSORT_LOAD_INDEXES_H
#define GPUSORT_LOAD_INDEXES_H

#include "utils/relcache.h"

/*
 * Returns whether a table has no indexes, or has no rows yet and only indexes that can be built
 * afterwards.
 */
extern bool gpusort_load_indexes_are_ours(Relation table);

/*
 * Locks a table and its indexes, so that no other session can write to the table or use the
 * indexes.  Returns false, with nothing locked, if some other session has conflicting locks, or has
 * put rows into the table.
 */
extern bool gpusort_load_lock_indexes(Relation table);

#endif							/* GPUSORT_LOAD_INDEXES_H */
