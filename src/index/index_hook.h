/*
 * index_hook.h
 *		How btree builds get to us.
 */
#ifndef GPUSORT_INDEX_HOOK_H
#define GPUSORT_INDEX_HOOK_H

extern void gpusort_install_index_hooks(void);

/* max_parallel_maintenance_workers as the user has it: while a statement builds indexes it may be another one. */
extern int	gpusort_maintenance_workers(void);

#endif							/* GPUSORT_INDEX_HOOK_H */
