/*
 * plan_hooks.h
 *		Where the planner asks us.
 */
#ifndef GPUSORT_PLAN_HOOKS_H
#define GPUSORT_PLAN_HOOKS_H

/* From _PG_init(). */
extern void gpusort_install_planner_hooks(void);

#endif							/* GPUSORT_PLAN_HOOKS_H */
