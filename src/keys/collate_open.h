/*
 * collate_open.h
 *		Finds the library of a collation.
 */
#ifndef GPUSORT_COLLATE_OPEN_H
#define GPUSORT_COLLATE_OPEN_H

#include "keys/collate_library.h"

/*
 * Opens a collation and fills in *library, whose buffers will lie in *memory.  Raises an error if
 * the collation can't be opened.
 */
extern void gpusort_collate_open(CollateLibrary *library, Oid collation,
								 GpuSortKeyMemory *memory);

#endif							/* GPUSORT_COLLATE_OPEN_H */
