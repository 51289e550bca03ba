/*
 * supervisor.h
 *		The background worker that keeps gpusortd running.
 */
#ifndef GPUSORT_SUPERVISOR_H
#define GPUSORT_SUPERVISOR_H

/* Register the worker; from _PG_init(), while preloading. */
extern void gpusort_supervisor_install(void);

extern PGDLLEXPORT void gpusort_supervisor_main(Datum arg);

#endif							/* GPUSORT_SUPERVISOR_H */
