/*
 * gs_key.h
 *		The key of a sort on the host: the bits of its planes that vary.
 */
#ifndef GS_KEY_H
#define GS_KEY_H

#include "engine/gs_layout.h"
#include "engine/host/gs_sort.h"

/* What reading a word of a plane costs, for the progress; see gs_sort.c. */
#define GS_KEY_COST	1.4

/* Read all planes; the layout keeps pointers into them.  GS_CANCELLED is possible. */
extern gs_status gs_key_build(gs_layout *layout, const gs_sort_args *args);

#endif							/* GS_KEY_H */
