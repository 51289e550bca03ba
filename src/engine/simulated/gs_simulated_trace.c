/*
 * gs_simulated_trace.c
 *		When spans of work ran on a simulated device; see gs_simulated_private.h.
 *
 * Work is done before an operation returns, so the host's clock can be read around it.
 */
#include <stdlib.h>
#include <time.h>

#include "engine/simulated/gs_simulated_private.h"

/* Most spans of a trace; further ones are not recorded. */
#define MAX_SPANS	1024

static double
clock_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double) t.tv_sec * 1e3 + (double) t.tv_nsec * 1e-6;
}

void
gs_simulated_trace_keep(gs_simulated_trace *trace, bool keep)
{
	if (keep && trace->spans == NULL)
		trace->spans = malloc(MAX_SPANS * sizeof(*trace->spans));
	else if (!keep)
	{
		free(trace->spans);
		trace->spans = NULL;
	}
	gs_simulated_trace_forget(trace);
}

void
gs_simulated_trace_forget(gs_simulated_trace *trace)
{
	trace->nspans = 0;
	for (unsigned i = 0; i < GS_QUEUES; i++)
		trace->open[i] = -1;
}

void
gs_simulated_trace_begin(gs_simulated_trace *trace, gs_queue queue, const char *name)
{
	double		now;

	trace->open[queue] = -1;
	if (trace->spans == NULL || trace->nspans == MAX_SPANS)
		return;
	now = clock_ms();
	trace->spans[trace->nspans] = (gs_span_time) {name, queue, now, now};
	trace->open[queue] = (int) trace->nspans++;
}

void
gs_simulated_trace_end(gs_simulated_trace *trace, gs_queue queue)
{
	if (trace->spans == NULL || trace->open[queue] < 0)
		return;
	trace->spans[trace->open[queue]].end_ms = clock_ms();
	trace->open[queue] = -1;
}

unsigned
gs_simulated_trace_read(const gs_simulated_trace *trace, gs_span_time *spans, unsigned max)
{
	unsigned	count = trace->nspans < max ? trace->nspans : max;

	for (unsigned i = 0; i < count; i++)
		spans[i] = trace->spans[i];
	return count;
}
