/*
 * insert_hook.h
 *		How INSERT ... SELECT gets here: an ExecutorRun hook.
 */
#ifndef GPUSORT_INSERT_HOOK_H
#define GPUSORT_INSERT_HOOK_H

/* From _PG_init(). */
extern void gpusort_install_insert_hook(void);

#endif							/* GPUSORT_INSERT_HOOK_H */
