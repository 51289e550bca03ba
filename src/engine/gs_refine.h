/*
 * gs_refine.h
 *		Sorting on the bits that did not fit into the first slice.
 */
#ifndef GS_REFINE_H
#define GS_REFINE_H

#include "gs_job.h"

extern bool gs_refine(gs_job *job, uint64_t begin, uint64_t end, gs_cursor cursor);

#endif							/* GS_REFINE_H */
