/*
 * copy_to.h
 *		Executes a COPY TO.
 */
#ifndef GPUSORT_COPY_TO_H
#define GPUSORT_COPY_TO_H

#include "bulk/copy_statement.h"

/*
 * Execute a COPY TO and close its table.  The statement is the part of the source text at
 * `location` with `length` bytes.  Returns how many rows were copied.
 */
extern uint64 gpusort_copy_to(GpuSortCopyStatement *copy, int location, int length);

#endif							/* GPUSORT_COPY_TO_H */
