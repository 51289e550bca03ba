/*
 * supervisor.h
 *		The background worker that keeps gpusortd running.
 */
#ifndef GPUSORT_SUPERVISOR_H
#define GPUSORT_SUPERVISOR_H

/* Registers the worker; called by _PG_init() while libraries are preloaded. */
extern void gpusort_supervisor_install(void);

/* The worker's main function. */
extern PGDLLEXPORT void gpusort_supervisor_main(Datum arg);

#endif							/* GPUSORT_SUPERVISOR_H */
