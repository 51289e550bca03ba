/*
 * copy_from.h
 *		Carrying out a COPY FROM.
 */
#ifndef GPUSORT_COPY_FROM_H
#define GPUSORT_COPY_FROM_H

#include "load/load_statement.h"

/* Carries out a statement that is ours, and closes its table; returns how many rows were copied. */
extern uint64 gpusort_copy_from(GpuSortLoadStatement *load);

#endif							/* GPUSORT_COPY_FROM_H */
