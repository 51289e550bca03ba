/*
 * trace.h
 *		A trace of sorts for Perfetto (ui.perfetto.dev) or chrome://tracing: gpusort.trace_file.
 *
 * What a process does is a bar in its own line, below the process that it works for; devices of
 * gpusortd have lines of their own, one for each queue in which they work.  All clocks are the machine's
 * monotonic one.
 */
#ifndef GPUSORT_TRACE_H
#define GPUSORT_TRACE_H

#include "portability/instr_time.h"

/* For gpusort_trace_device(): in no queue in particular. */
#define GPUSORT_TRACE_ANY_QUEUE 7

/* The setting is defined in _PG_init(). */
extern void gpusort_define_trace_file(void);

/*
 * Are sorts that begin now traced?  By the process that others work for, the first time since the
 * setting was set, the file is begun; if it can't be, or the user may not write it, that is told, and
 * there is no trace until the setting is set again.
 */
extern bool gpusort_trace_begin(void);

/* Something that this process did from start to end. */
extern void gpusort_trace_event(const char *name, const char *kind, instr_time start,
								instr_time end, uint64 rows);

/*
 * What a device of gpusortd, whose pid it is, did in one of its queues; by the machine's monotonic
 * clock, and a time by that.
 */
extern void gpusort_trace_device(uint32 pid, unsigned device, unsigned queue, const char *name,
								 double begin_ms, double end_ms, uint64 rows);
extern double gpusort_trace_ms(instr_time time);

#endif							/* GPUSORT_TRACE_H */
