/*
 * index_scan.h
 *		Reads the table of an index build.
 */
#ifndef GPUSORT_INDEX_SCAN_H
#define GPUSORT_INDEX_SCAN_H

#include "index/index_reader.h"

/*
 * Read the table, or this process's share of it.  Returns the number of live table rows,
 * as table_index_build_scan() does.
 */
extern double gpusort_index_scan(GpuSortIndexReader *reader);

#endif							/* GPUSORT_INDEX_SCAN_H */
