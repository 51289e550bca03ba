/*
 * plan_shared.h
 *		The plan node "Parallel Custom Scan (GpuSort Shared)".
 *
 *		Gather
 *		  -> MergeJoin								Gather
 *		    -> a participant's own outer rows		  -> WindowAgg
 *		    -> GpuSort Shared, all rows to each		    -> GpuSort Shared, sliced
 *		      -> partial plan						      -> partial plan
 *
 * The participants of a Gather collect the rows of a partial plan, one of them sorts
 * all of these, and then each reads the result (exec_shared.c).  It returns either all
 * rows to every participant, or slices: each row goes to one participant, each
 * participant's rows are in order, and rows that are equal in the first so many sort
 * columns all go to the same one.
 *
 * Before it returns its first row, the node waits for those who are still reading its
 * input; they return no row meanwhile, so they never wait for the Gather.  It must not be
 * rescanned by anything but the Gather, since the input of all would have to be read
 * again: it can't be on the inner side of a nested loop.
 */
#ifndef GPUSORT_PLAN_SHARED_H
#define GPUSORT_PLAN_SHARED_H

#include "plan/plan_node.h"

/*
 * A path that sorts the rows of a partial path of rel by pathkeys, all_rows of all
 * participants together.  slice_columns: so many leading pathkeys are not cut; 0: all
 * rows to each.  It can be part of a partial path; sliced, it is one.
 */
extern Path *gpusort_make_shared_path(PlannerInfo *root, RelOptInfo *rel, Path *partial,
									  List *pathkeys, double all_rows, int slice_columns,
									  const GpuSortEstimate *estimate);

/*
 * Whether such a path is worth being made, with its estimate.  The settings are looked
 * at by gpusort_plans_shared(), which comes first since it is cheap.
 */
extern bool gpusort_plans_shared(void);
extern bool gpusort_shared_worth_it(const Path *partial, List *pathkeys, double all_rows,
									GpuSortEstimate *estimate);

/* plan_merge_join.c: paths whose inner side parallel workers sort together */
extern void gpusort_install_merge_join_hook(void);

extern const CustomScanMethods gpusort_shared_methods;

extern bool gpusort_is_shared_plan(const Plan *plan);

/* The leading sort columns that slices don't cut; 0: all rows to each participant. */
extern int	gpusort_slice_columns(const CustomScan *scan);

/* exec_shared.c, explain_shared.c */
extern Node *gpusort_create_shared_state(CustomScan *scan);
extern void gpusort_explain_shared(CustomScanState *node, List *ancestors, ExplainState *es);

#endif							/* GPUSORT_PLAN_SHARED_H */
