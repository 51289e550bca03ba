/*
 * heap_hook.h
 *		How copies of tables get here.
 */
#ifndef GPUSORT_HEAP_HOOK_H
#define GPUSORT_HEAP_HOOK_H

/* From _PG_init(). */
extern void gpusort_install_heap_hooks(void);

#endif							/* GPUSORT_HEAP_HOOK_H */
