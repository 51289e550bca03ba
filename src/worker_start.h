/*
 * worker_start.h
 *		Starting workers: where their code is, and the memory that they share.
 */
#ifndef GPUSORT_WORKER_START_H
#define GPUSORT_WORKER_START_H

#include "access/parallel.h"

/* Processors that the machine has. */
extern int	gpusort_processors(void);

/* The file that this library was loaded from, which the server may know by no other name. */
extern const char *gpusort_library_file(void);

/* In parallel mode: a context of parallel workers that call a function of this library. */
extern ParallelContext *gpusort_create_parallel_context(const char *function, int nworkers);

/*
 * Initialize the context's shared memory, once all is estimated.  False if there is none to be had, which
 * is no error: the context is only there to be destroyed then, and its workers' work is the caller's.  It has
 * what workers begin and end with (worker_usage.h), too.
 */
extern bool gpusort_init_parallel_context(ParallelContext *context);

#endif							/* GPUSORT_WORKER_START_H */
