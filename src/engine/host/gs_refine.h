/*
 * gs_refine.h
 *		Sorting on the bits that did not fit into the first section.
 */
#ifndef GS_REFINE_H
#define GS_REFINE_H

#include "engine/host/gs_items.h"

extern void gs_mark_all(gs_job *job, bool first_too);
extern bool gs_refine(gs_job *job, gs_range range, gs_cursor cursor);

#endif							/* GS_REFINE_H */
