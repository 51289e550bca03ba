/*
 * key_refine.h
 *		Ordering rows that tie on what the engine sorts by.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_KEY_REFINE_H
#define GPUSORT_KEY_REFINE_H

#include "sort/team_stretches.h"

/*
 * Put rows in order that tie on the engine's planes, which end with those of
 * keys.refine_column or are all.
 */
extern void gpusort_refine(GpuSort *sort);

/* Help with that: the sort is borrowed. */
extern void gpusort_refine_stretches(GpuSort *sort, TeamStretches *job);

#endif							/* GPUSORT_KEY_REFINE_H */
