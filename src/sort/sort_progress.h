/*
 * sort_progress.h
 *		Showing the steps of a sort as progress, each in proportion to what it costs.
 *
 * Whoever wants to see a sort advance gives it a gs_progress (engine/gs_progress.h).  Engine,
 * refinement and verification are one stage each; how long the latter two will take is planned anew
 * when a step is done and more is known.  Touching memory for the first time is a stage within the
 * engine's.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_SORT_PROGRESS_H
#define GPUSORT_SORT_PROGRESS_H

#include "sort/sort.h"

/*
 * Units of work in the refinement, in nanoseconds: looking at a row that does not tie, and at one
 * word of a row that does.  Verification counts rows.
 */
#define GPUSORT_SWEEP_COST		0.3
#define GPUSORT_TIED_COST		130.0

/*
 * Plan what is left of a sort that is being performed, and enter its next step.  Returns the
 * progress as it was before, which gs_progress_leave(sort->progress, ...) takes when the step is
 * done.
 */
extern gs_progress gpusort_enter_engine(GpuSort *sort);
extern gs_progress gpusort_enter_growth(GpuSort *sort, size_t bytes, size_t fresh_bytes);
extern gs_progress gpusort_enter_refinement(GpuSort *sort);
extern gs_progress gpusort_enter_verification(GpuSort *sort);

#endif							/* GPUSORT_SORT_PROGRESS_H */
