/*
 * worker_start.h
 *		Starting parallel workers: where their code is, and the memory that they share.
 */
#ifndef GPUSORT_WORKER_START_H
#define GPUSORT_WORKER_START_H

#include "access/parallel.h"

/* Returns the number of processors that are online. */
extern int	gpusort_processors(void);

/*
 * Returns the file that this library was loaded from.  The server may not find the library by any
 * other name.
 */
extern const char *gpusort_library_file(void);

/*
 * Creates a context of parallel workers that call a function of this library.  The caller must be
 * in parallel mode.
 */
extern ParallelContext *gpusort_create_parallel_context(const char *function, int nworkers);

/*
 * Initializes the context's shared memory, once all chunks have been estimated; adds what workers
 * begin and end with (worker_usage.h).  Returns false if there is no memory to be had, which is no
 * error: the context then only has to be destroyed, and the caller does the work of its workers.
 */
extern bool gpusort_init_parallel_context(ParallelContext *context);

#endif							/* GPUSORT_WORKER_START_H */
