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
 * Puts those rows in order that tie on the engine's planes.  These planes end with that of
 * keys.refine_column, or are all of the sort's.
 */
extern void gpusort_refine(GpuSort *sort);

/*
 * Helps another process with gpusort_refine(), by taking stretches of the job.  `sort` is borrowed
 * from that process (sort_lent.h).
 */
extern void gpusort_refine_stretches(GpuSort *sort, TeamStretches *job);

#endif							/* GPUSORT_KEY_REFINE_H */
