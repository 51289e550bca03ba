/*
 * page_keys.h
 *		Putting the keys of all tuples on a page at once.
 *
 * Where rows are made of their keys (key_rows.h), and the keys are integers at fixed places in the
 * tuples, a few words are all that is needed of a tuple.  Putting them page by page costs a sixth
 * of the instructions that putting them row by row costs.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_PAGE_KEYS_H
#define GPUSORT_PAGE_KEYS_H

#include "storage/bufpage.h"

#include "sort/sort_state.h"

/*
 * Finds out where the keys lie in tuples on pages, and sets key_rows.page_natts.  To be called when
 * rows are made of tuples of another table from now on.
 */
extern void gpusort_place_page_keys(GpuSort *sort);

/*
 * Puts the rows of the first of `count` tuples on a page, which are at offsets[].  Returns of how
 * many tuples rows were put.  If these are not all, the next tuple has to be put by itself.
 */
extern int	gpusort_put_page_keys(GpuSort *sort, Page page, const OffsetNumber *offsets, int count);

#endif							/* GPUSORT_PAGE_KEYS_H */
