/*
 * gs_simulated_trace.h
 *		When spans of work ran on a simulated device.
 */
#ifndef GS_SIMULATED_TRACE_H
#define GS_SIMULATED_TRACE_H

#include "engine/device/gs_device.h"

typedef struct gs_simulated_trace
{
	gs_span_time *spans;		/* array of fixed size; NULL: no trace is kept */
	unsigned	nspans;
	int			open[GS_QUEUES];	/* the span that has begun on each queue, or -1 */
} gs_simulated_trace;

/* Begins to keep a trace, which is empty, or keeps none and frees its memory. */
extern void gs_simulated_trace_keep(gs_simulated_trace *trace, bool keep);

/* Forgets the spans so far. */
extern void gs_simulated_trace_forget(gs_simulated_trace *trace);

/* These do what gs_device_ops says. */
extern void gs_simulated_trace_begin(gs_simulated_trace *trace, gs_queue queue, const char *name);
extern void gs_simulated_trace_end(gs_simulated_trace *trace, gs_queue queue);
extern unsigned gs_simulated_trace_read(const gs_simulated_trace *trace, gs_span_time *spans,
										unsigned max);

#endif							/* GS_SIMULATED_TRACE_H */
