/*
 * index_hook.h
 *		How btree builds get to us.
 */
#ifndef GPUSORT_INDEX_HOOK_H
#define GPUSORT_INDEX_HOOK_H

extern void gpusort_install_index_hooks(void);

#endif							/* GPUSORT_INDEX_HOOK_H */
