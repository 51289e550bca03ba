/*
 * select_hook.h
 *		How rows of queries get to the client: an ExecutorRun hook.
 */
#ifndef GPUSORT_SELECT_HOOK_H
#define GPUSORT_SELECT_HOOK_H

/* From _PG_init(). */
extern void gpusort_install_select_hook(void);

#endif							/* GPUSORT_SELECT_HOOK_H */
