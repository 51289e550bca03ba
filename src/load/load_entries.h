/*
 * load_entries.h
 *		The entries of new rows in the indexes of a table that is in use.
 *
 * Entries are inserted when all rows are there, and in btree indexes they are inserted in the order
 * of their keys: so each leaf page is looked for and changed once, and not as often as rows happen
 * to belong there.  Other sessions may read and write the table meanwhile, as they may beside
 * PostgreSQL's COPY.
 */
#ifndef GPUSORT_LOAD_ENTRIES_H
#define GPUSORT_LOAD_ENTRIES_H

#include "nodes/execnodes.h"

#include "load/load_refusal.h"
#include "load/load_state.h"

/*
 * Returns whether entries can be inserted like this into all indexes of a table, and whether
 * gpusort.copy_indexes allows it.
 */
extern bool gpusort_load_entries_are_ours(Relation table);

/*
 * Inserts the entries of all rows that were loaded.  If an index refuses a row, raises the error
 * that PostgreSQL's COPY would raise at the first such row, with its line.
 */
extern void gpusort_load_put_entries(const GpuSortLoadState *state);

/*
 * Inserts the entries of a partition's rows into those of its indexes that get them in the order of
 * their keys.  If an index refuses a row, keeps this row in *first, unless the row there has an
 * earlier line.  Returns whether the partition has other indexes, into which nothing was inserted
 * yet.
 */
extern bool gpusort_load_put_leaf_entries(const GpuSortLoadState *state, GpuSortLeafNumber leaf,
										  GpuSortRefusedRow *first);

/* Returns whether an index gets its entries in the order of its keys, and not row by row. */
extern bool gpusort_load_entries_are_sorted(Relation index, const IndexInfo *info);

#endif							/* GPUSORT_LOAD_ENTRIES_H */
