/*
 * gs_simulated_trace.h
 *		When spans of work ran on a simulated device.
 */
#ifndef GS_SIMULATED_TRACE_H
#define GS_SIMULATED_TRACE_H

#include "engine/device/gs_device.h"

typedef struct gs_simulated_trace
{
	gs_span_time *spans;		/* room for a fixed number; NULL: no trace is kept */
	unsigned	nspans;
	int			open[GS_QUEUES];	/* number of the span begun, or -1 */
} gs_simulated_trace;

/* Keep an empty trace, or none and no memory. */
extern void gs_simulated_trace_keep(gs_simulated_trace *trace, bool keep);

/* Forget the spans so far. */
extern void gs_simulated_trace_forget(gs_simulated_trace *trace);

/* As gs_device_ops has them. */
extern void gs_simulated_trace_begin(gs_simulated_trace *trace, gs_queue queue, const char *name);
extern void gs_simulated_trace_end(gs_simulated_trace *trace, gs_queue queue);
extern unsigned gs_simulated_trace_read(const gs_simulated_trace *trace, gs_span_time *spans,
										unsigned max);

#endif							/* GS_SIMULATED_TRACE_H */
