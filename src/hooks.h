/*
 * hooks.h
 *		The server's hooks, all that gpusort has.
 */
#ifndef GPUSORT_HOOKS_H
#define GPUSORT_HOOKS_H

/* From _PG_init(). */
extern void gpusort_install_hooks(void);

#endif							/* GPUSORT_HOOKS_H */
