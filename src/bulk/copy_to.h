/*
 * copy_to.h
 *		Carrying out a COPY TO.
 */
#ifndef GPUSORT_COPY_TO_H
#define GPUSORT_COPY_TO_H

#include "bulk/copy_statement.h"

/* Returns how many rows were copied; closes the table.  The text's part is the statement's. */
extern uint64 gpusort_copy_to(GpuSortCopyStatement *copy, int location, int length);

#endif							/* GPUSORT_COPY_TO_H */
