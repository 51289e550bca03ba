/*
 * pool.h
 *		The pool of memory that the server's processes share: creation.
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

/* Setting. */
extern int	gpusort_pool_size;	/* MB, in effect; -1: not decided yet */

/*
 * From shmem_startup_hook: make the pool with the server's shared memory, anew after a crash,
 * when the processes that used the last one are gone.
 */
extern void gpusort_make_pool(void);

/* MB to use for a gpusort.pool_size of -1. */
extern int	gpusort_pool_default_mb(void);

#endif							/* GPUSORT_POOL_H */
