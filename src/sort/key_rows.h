/*
 * key_rows.h
 *		Rows that are made of their keys when they are returned.
 *
 * Where all columns of a row are sort columns, and their words tell the values (keys/key_inverse.h),
 * the sort keeps planes only: no row store, no references.  If the key fits a word, the host engine
 * sorts keys without row ids, and returning rows reads them one after the other; else, and if
 * gpusortd sorts, words are looked up by row id.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_KEY_ROWS_H
#define GPUSORT_KEY_ROWS_H

#include "sort/sort_state.h"

/* Find out whether rows can be made of keys. */
extern void gpusort_prepare_key_rows(GpuSort *sort);

/* Make rows of their keys from now on, or store them; the sort has none. */
extern void gpusort_use_key_rows(GpuSort *sort, bool use);

/* Bytes of a row without nulls. */
extern size_t gpusort_key_row_bytes(const GpuSort *sort);

/* The engine has sorted keys instead of rows. */
extern void gpusort_read_keys(GpuSort *sort, const uint64 *keys, const gs_layout *layout);

/*
 * Make the rows at positions from .. from + count - 1, in `room` for as many; their places go into
 * rows[].  What that takes for the rows up to ahead_to is prefetched.
 */
extern void gpusort_make_key_rows(GpuSort *sort, uint64 from, int count, int ahead_to,
								  GpuSortRowRoom *room, void **rows);

/* Make the row of this id. */
extern void gpusort_make_key_row(const GpuSort *sort, uint32 id, GpuSortRowRoom *room);

#endif							/* GPUSORT_KEY_ROWS_H */
