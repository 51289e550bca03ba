/*
 * page_keys.h
 *		Keys of all tuples on a page at once.
 *
 * Where rows are made of their keys (key_rows.h), and these are integers that lie at fixed places,
 * all that is wanted of a tuple is a few words.  Taken in by the page, they cost a sixth of the
 * instructions that a row each costs.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_PAGE_KEYS_H
#define GPUSORT_PAGE_KEYS_H

#include "storage/bufpage.h"

#include "sort/sort_state.h"

/* Rows are made of other tuples from now on: find the keys in these. */
extern void gpusort_place_page_keys(GpuSort *sort);

/*
 * Take in the rows of the first of these tuples on a page, no more than `count`.  Returns of how many;
 * the one behind them has to come by itself.
 */
extern int	gpusort_put_page_keys(GpuSort *sort, Page page, const OffsetNumber *offsets, int count);

#endif							/* GPUSORT_PAGE_KEYS_H */
