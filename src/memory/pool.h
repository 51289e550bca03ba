/*
 * pool.h
 *		Makes the pool of memory that the server's processes share.
 *
 * protocol/gsd_pool.h has the layout, and the functions that take and give extents.
 */
#ifndef GPUSORT_POOL_H
#define GPUSORT_POOL_H

#include "protocol/gsd_pool.h"

/*
 * The pool, mapped at the same address in all processes of the server; NULL if
 * there is none: gpusort was not loaded by shared_preload_libraries,
 * gpusort.pool_size is 0, or the pool could not be made.
 */
extern gsd_pool *gpusort_pool;

/* Setting: the size in effect, in MB; -1: not decided yet. */
extern int	gpusort_pool_size;

/*
 * Makes the pool; called by shmem_startup_hook.  After a crash the server makes its shared memory
 * anew, and so the pool, when the processes that used the old one are gone.
 */
extern void gpusort_make_pool(void);

/* Returns the size that a gpusort.pool_size of -1 stands for, in MB. */
extern int	gpusort_pool_default_mb(void);

#endif							/* GPUSORT_POOL_H */
