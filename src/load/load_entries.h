/*
 * load_entries.h
 *		The entries of new rows in the indexes of a table that is in use.
 *
 * They are made when all rows are there, of btree indexes in the order of their keys: so each leaf page is looked for and
 * changed once, and not as often as rows happen to belong there.  Others may read and write meanwhile, as beside
 * PostgreSQL's COPY.
 */
#ifndef GPUSORT_LOAD_ENTRIES_H
#define GPUSORT_LOAD_ENTRIES_H

#include "nodes/execnodes.h"

#include "load/load_refusal.h"
#include "load/load_state.h"

/* Can that be done for all indexes of a table, and is it wanted? */
extern bool gpusort_load_entries_are_ours(Relation table);

/*
 * Do it.  If an index refuses a row, that is COPY's error: the one that PostgreSQL's raises at the first such row, with its
 * line.
 */
extern void gpusort_load_put_entries(const GpuSortLoadState *state);

/*
 * Those of a partition, but for indexes whose entries are not put there in the order of keys.  A row that is refused is kept if it is
 * the first one.  Returns whether there are such other indexes.
 */
extern bool gpusort_load_put_leaf_entries(const GpuSortLoadState *state, GpuSortLeafNumber leaf, GpuSortRefusedRow *first);

/* Are an index's entries put there in the order of its keys? */
extern bool gpusort_load_entries_are_sorted(Relation index, const IndexInfo *info);

#endif							/* GPUSORT_LOAD_ENTRIES_H */
