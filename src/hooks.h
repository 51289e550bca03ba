/*
 * hooks.h
 *		Installing the server's hooks, all that gpusort uses.
 */
#ifndef GPUSORT_HOOKS_H
#define GPUSORT_HOOKS_H

/* Called from _PG_init(): installs every hook. */
extern void gpusort_install_hooks(void);

#endif							/* GPUSORT_HOOKS_H */
