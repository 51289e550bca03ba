/*
 * index_pages.h
 *		Reads the heap of an index build page by page.
 */
#ifndef GPUSORT_INDEX_PAGES_H
#define GPUSORT_INDEX_PAGES_H

#include "index/index_reader.h"

/* Returns whether the table can be read page by page. */
extern bool gpusort_index_can_read_pages(const GpuSortIndexTarget *target);

/* Read the table, or this process's share of it, page by page.  Returns the number of live rows. */
extern double gpusort_index_read_pages(GpuSortIndexReader *reader);

#endif							/* GPUSORT_INDEX_PAGES_H */
