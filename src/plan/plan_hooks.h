/*
 * plan_hooks.h
 *		What the planner's hooks call.
 */
#ifndef GPUSORT_PLAN_HOOKS_H
#define GPUSORT_PLAN_HOOKS_H

#include "optimizer/paths.h"
#include "optimizer/planner.h"

#include "pg_compat/planner.h"

/*
 * Add paths of ours to those that the planner has for a table, a pair of relations, or a step above
 * the joins.
 */
extern void gpusort_consider_table(PlannerInfo *root, RelOptInfo *rel);
extern void gpusort_consider_joins(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel,
								   RelOptInfo *innerrel, JoinType jointype,
								   JoinPathExtraData *extra);
extern void gpusort_consider_upper_paths(PlannerInfo *root, UpperRelationKind stage,
										 RelOptInfo *input_rel, RelOptInfo *output_rel,
										 void *extra);

/*
 * Has a planner make the plan, and takes over the Sorts that it has put there without calling any
 * other hook.
 */
extern PlannedStmt *gpusort_plan(planner_hook_type planner, GPUSORT_PLANNER_PARAMETERS);

#endif							/* GPUSORT_PLAN_HOOKS_H */
