/*
 * trace.h
 *		A trace of sorts for Perfetto (ui.perfetto.dev) or chrome://tracing: gpusort.trace_file.
 *
 * What a process does is shown as bars on its own line, below the process that it works for.
 * Devices of gpusortd have lines of their own, one for each queue in which they work.  All times
 * are those of the machine's monotonic clock.
 */
#ifndef GPUSORT_TRACE_H
#define GPUSORT_TRACE_H

#include "portability/instr_time.h"

/* A queue number for gpusort_trace_device(): the queue is not known. */
#define GPUSORT_TRACE_ANY_QUEUE 7

/* Called from _PG_init(): defines the setting. */
extern void gpusort_define_trace_file(void);

/*
 * Returns whether sorts that begin now are traced.  The leader creates the file, or empties it, at
 * the first call since the setting was set.  If that fails, or the user may not write the file, a
 * warning is raised, and there is no trace until the setting is set again.
 */
extern bool gpusort_trace_begin(void);

/* Writes an event: something that this process did from start to end. */
extern void gpusort_trace_event(const char *name, const char *kind, instr_time start,
								instr_time end, uint64 rows);

/*
 * Writes an event: what a device of gpusortd, whose process id is `pid`, did in one of its queues.
 * Times are in ms of the machine's monotonic clock, which gpusort_trace_ms() converts a time of the
 * server to.
 */
extern void gpusort_trace_device(uint32 pid, unsigned device, unsigned queue, const char *name,
								 double begin_ms, double end_ms, uint64 rows);
extern double gpusort_trace_ms(instr_time time);

#endif							/* GPUSORT_TRACE_H */
