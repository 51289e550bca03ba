/*
 * copy_hook.h
 *		How COPY gets to us.
 */
#ifndef GPUSORT_COPY_HOOK_H
#define GPUSORT_COPY_HOOK_H

/* From _PG_init(), before other hooks of ours for utility commands are installed. */
extern void gpusort_install_copy_hook(void);

#endif							/* GPUSORT_COPY_HOOK_H */
