/*
 * cuda_trace.cu
 *		When spans of work ran: pairs of timing events on their queues.
 *
 * CUDA tells the time between two events of one GPU, in single precision.  To place spans of
 * several GPUs, and of processes, on one axis each device has an *origin*: an event on a stream of
 * its own that has nothing else to do.  The host waits for the event and stamps it with its
 * monotonic clock, which is the axis.  An origin is good to some 10 us, the time until the host
 * notices the event.  It is renewed with every trace and whenever it is older than a minute, so
 * that the error of single precision stays below a microsecond.
 *
 * Events are created when they are first needed, and kept.  Without a trace nothing is recorded: an
 * event takes the host a microsecond or two.
 */
#include <time.h>

#include "gs_cuda_device.cuh"

#define ORIGIN_LIFE_MS	60e3

double
gs_cuda_clock_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double) t.tv_sec * 1e3 + (double) t.tv_nsec * 1e-6;
}

static gs_status
renew_origin(gs_cuda_device *device)
{
	gs_cuda_trace *trace = &device->trace;

	GS_CUDA_TRY(device, cudaEventRecord(trace->origin, trace->stream));
	GS_CUDA_TRY(device, cudaEventSynchronize(trace->origin));
	trace->origin_ms = gs_cuda_clock_ms();
	return GS_OK;
}

gs_status
gs_cuda_trace_open(gs_cuda_device *device)
{
	gs_cuda_trace *trace = &device->trace;

	GS_CUDA_TRY(device, cudaStreamCreateWithFlags(&trace->stream, cudaStreamNonBlocking));
	GS_CUDA_TRY(device, cudaEventCreate(&trace->origin));
	return gs_cuda_trace_reset(device);
}

void
gs_cuda_trace_close(gs_cuda_device *device)
{
	gs_cuda_trace *trace = &device->trace;

	for (unsigned i = 0; i < trace->nevents; i++)
	{
		(void) cudaEventDestroy(trace->spans[i].begin);
		(void) cudaEventDestroy(trace->spans[i].end);
	}
	if (trace->origin != nullptr)
		(void) cudaEventDestroy(trace->origin);
	if (trace->stream != nullptr)
		(void) cudaStreamDestroy(trace->stream);
}

gs_status
gs_cuda_trace_reset(gs_cuda_device *device)
{
	device->trace.nspans = 0;
	for (int &open : device->trace.open)
		open = -1;
	return renew_origin(device);
}

static void
keep_trace(gs_device *base, bool keep)
{
	gs_cuda_device *device = gs_cuda(base);

	device->trace.kept = keep && gs_cuda_enter(device) == GS_OK &&
		gs_cuda_trace_reset(device) == GS_OK;
}

static bool
create_span_events(gs_cuda_trace *trace)
{
	gs_cuda_span *span = &trace->spans[trace->nevents];

	if (cudaEventCreate(&span->begin) != cudaSuccess)
	{
		(void) cudaGetLastError();
		return false;
	}
	if (cudaEventCreate(&span->end) != cudaSuccess)
	{
		(void) cudaGetLastError();
		(void) cudaEventDestroy(span->begin);
		return false;
	}
	trace->nevents++;
	return true;
}

/* Begins a span.  If there is no room for it, it is not recorded; nothing else depends on it. */
static void
span_begin(gs_device *base, gs_queue queue, const char *name)
{
	gs_cuda_device *device = gs_cuda(base);
	gs_cuda_trace *trace = &device->trace;
	gs_cuda_span *span;

	trace->open[queue] = -1;
	if (!trace->kept || trace->nspans == GS_CUDA_MAX_SPANS || gs_cuda_enter(device) != GS_OK)
		return;
	if (trace->nspans == 0 && gs_cuda_clock_ms() - trace->origin_ms > ORIGIN_LIFE_MS &&
		renew_origin(device) != GS_OK)
		return;
	if (trace->nspans == trace->nevents && !create_span_events(trace))
		return;
	span = &trace->spans[trace->nspans];
	span->name = name;
	span->queue = queue;
	span->ended = false;
	if (cudaEventRecord(span->begin, device->streams[queue]) != cudaSuccess)
	{
		(void) cudaGetLastError();
		return;
	}
	trace->open[queue] = (int) trace->nspans++;
}

static void
span_end(gs_device *base, gs_queue queue)
{
	gs_cuda_device *device = gs_cuda(base);
	gs_cuda_trace *trace = &device->trace;
	gs_cuda_span *span;

	if (trace->open[queue] < 0 || gs_cuda_enter(device) != GS_OK)
		return;
	span = &trace->spans[trace->open[queue]];
	span->ended = cudaEventRecord(span->end, device->streams[queue]) == cudaSuccess;
	if (!span->ended)
		(void) cudaGetLastError();
	trace->open[queue] = -1;
}

static bool
read_span(const gs_cuda_trace *trace, const gs_cuda_span *span, gs_span_time *time)
{
	float		begin;
	float		end;

	if (!span->ended || cudaEventSynchronize(span->end) != cudaSuccess ||
		cudaEventElapsedTime(&begin, trace->origin, span->begin) != cudaSuccess ||
		cudaEventElapsedTime(&end, trace->origin, span->end) != cudaSuccess)
	{
		(void) cudaGetLastError();
		return false;
	}
	time->name = span->name;
	time->queue = span->queue;
	time->begin_ms = trace->origin_ms + begin;
	time->end_ms = trace->origin_ms + end;
	return true;
}

static unsigned
read_trace(gs_device *base, gs_span_time *spans, unsigned max)
{
	gs_cuda_device *device = gs_cuda(base);
	unsigned	nread = 0;

	if (!device->trace.kept || gs_cuda_enter(device) != GS_OK)
		return 0;
	for (unsigned i = 0; i < device->trace.nspans && nread < max; i++)
		if (read_span(&device->trace, &device->trace.spans[i], &spans[nread]))
			nread++;
	return nread;
}

void
gs_cuda_add_trace_ops(gs_device_ops *ops)
{
	ops->keep_trace = keep_trace;
	ops->span_begin = span_begin;
	ops->span_end = span_end;
	ops->read_trace = read_trace;
}
