/*
 * sort_progress.h
 *		The steps of a sort in its progress, each in proportion to what it costs.
 *
 * Whoever wants to see a sort advance gives it a gs_progress (engine/gs_progress.h).
 * Engine, refinement and verification are a stage each; how long the latter two
 * take is planned anew when a step is done and more is known.  Memory that is touched
 * for the first time is a stage within the engine's.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_SORT_PROGRESS_H
#define GPUSORT_SORT_PROGRESS_H

#include "sort/sort.h"

/*
 * Units of work in the refinement, nanoseconds a row: looking at one that does not
 * tie, at a word of one that does.  Verification counts rows.
 */
#define GPUSORT_SWEEP_COST		0.3
#define GPUSORT_TIED_COST		130.0

/*
 * Plan what is left of a sort that is performed, and enter its next step;
 * gs_progress_leave() sort->progress when that is done.
 */
extern gs_progress gpusort_enter_engine(GpuSort *sort);
extern gs_progress gpusort_enter_growth(GpuSort *sort, size_t bytes, size_t fresh_bytes);
extern gs_progress gpusort_enter_refinement(GpuSort *sort);
extern gs_progress gpusort_enter_verification(GpuSort *sort);

#endif							/* GPUSORT_SORT_PROGRESS_H */
