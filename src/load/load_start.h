/*
 * load_start.h
 *		The beginning of an input: how its records end, and its header.
 */
#ifndef GPUSORT_LOAD_START_H
#define GPUSORT_LOAD_START_H

#include "load/load_rows.h"

/*
 * Find out from the beginning of an input.  Sets the task's newline, and "consumed" and "lines" of what is
 * not to be loaded; false: it is PostgreSQL's to look at.
 */
extern bool gpusort_load_start(GpuSortLoadTask *task, bool has_header, GpuSortLoadInput *input);

#endif							/* GPUSORT_LOAD_START_H */
