/*
 * key_rows.h
 *		Rows that are made of their keys when they are returned.
 *
 * Where all columns of a row are sort columns, and their words tell the values
 * (keys/key_codec.h), the sort keeps planes only: it has neither row store nor references.  If
 * the whole key fits a word, the host engine sorts keys without row ids, and rows are returned by
 * reading the keys one after the other.  Otherwise, and if gpusortd sorts, the words of a row are
 * looked up by its id.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_KEY_ROWS_H
#define GPUSORT_KEY_ROWS_H

#include "sort/sort_state.h"

/* Finds out whether rows of the sort can be made of their keys, and sets key_rows.possible. */
extern void gpusort_prepare_key_rows(GpuSort *sort);

/*
 * Decides whether rows are made of their keys from now on, or stored.  They are made of their keys
 * if `use` is true and gpusort_prepare_key_rows() has found that possible.  The sort must not have
 * rows.
 */
extern void gpusort_use_key_rows(GpuSort *sort, bool use);

/* Returns the bytes of a row without nulls. */
extern size_t gpusort_key_row_bytes(const GpuSort *sort);

/*
 * Takes note that the engine has sorted keys, which are in order, instead of row ids.  `layout`
 * tells how columns are found in them.
 */
extern void gpusort_read_keys(GpuSort *sort, const uint64 *keys, const gs_layout *layout);

/*
 * Makes the rows at positions from .. from + count - 1 in room[0..count-1], and sets rows[] to
 * point there.  What the rows at positions from + count .. from + ahead_to - 1 need is prefetched.
 */
extern void gpusort_make_key_rows(GpuSort *sort, uint64 from, int count, int ahead_to,
								  GpuSortRowRoom *room, void **rows);

/* Makes the row with this id in *room. */
extern void gpusort_make_key_row(const GpuSort *sort, uint32 id, GpuSortRowRoom *room);

#endif							/* GPUSORT_KEY_ROWS_H */
