/*
 * cuda_queue.cu
 *		Queues and events: one CUDA stream for each queue, CUDA events from a pool.
 *
 * Streams do not synchronise with the legacy default stream.  Lanes have short work to do, so their
 * kernels go first where the GPU has a choice.  Events of the pool measure no time; those that do
 * belong to the trace.  An event object is on one of two lists: idle, or live between record() and
 * release().  reset() makes all live events idle.
 */
#include <new>

#include "gs_cuda_device.cuh"

gs_status
gs_cuda_queues_open(gs_cuda_device *device)
{
	int			least;
	int			greatest;

	GS_CUDA_TRY(device, cudaDeviceGetStreamPriorityRange(&least, &greatest));
	for (cudaStream_t &stream : device->streams)
		GS_CUDA_TRY(device, cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking,
														 device->parent != nullptr
														 ? greatest : least));
	return GS_OK;
}

static void
destroy_events(gs_event *event)
{
	while (event != nullptr)
	{
		gs_event   *next = event->next;

		(void) cudaEventDestroy(event->event);
		delete event;
		event = next;
	}
}

void
gs_cuda_queues_close(gs_cuda_device *device)
{
	destroy_events(device->live_events);
	destroy_events(device->idle_events);
	for (cudaStream_t stream : device->streams)
		if (stream != nullptr)
			(void) cudaStreamDestroy(stream);
}

static gs_status
create_event(gs_cuda_device *device, gs_event **created)
{
	gs_event   *event = new (std::nothrow) gs_event{};
	cudaError_t error;

	if (event == nullptr)
		return gs_cuda_refused(device, GS_NO_SPACE, "no memory for an event");
	error = cudaEventCreateWithFlags(&event->event, cudaEventDisableTiming);
	if (error != cudaSuccess)
	{
		delete event;
		return gs_cuda_failed(device, error, "cudaEventCreateWithFlags");
	}
	*created = event;
	return GS_OK;
}

static void
make_idle(gs_cuda_device *device, gs_event *event)
{
	event->next = device->idle_events;
	device->idle_events = event;
}

static void
make_live(gs_cuda_device *device, gs_event *event)
{
	event->previous = nullptr;
	event->next = device->live_events;
	if (event->next != nullptr)
		event->next->previous = event;
	device->live_events = event;
}

static gs_status
queue_record(gs_device *base, gs_queue queue, gs_event_ref *event_ref)
{
	gs_cuda_device *device = gs_cuda(base);
	gs_event   *event;
	cudaError_t error;

	GS_CUDA_ENTER(device);
	event = device->idle_events;
	if (event != nullptr)
		device->idle_events = event->next;
	else
		GS_CUDA_CHECK(create_event(device, &event));
	error = cudaEventRecord(event->event, device->streams[queue]);
	if (error != cudaSuccess)
	{
		make_idle(device, event);
		return gs_cuda_failed(device, error, "cudaEventRecord");
	}
	make_live(device, event);
	*event_ref = event;
	return GS_OK;
}

static gs_status
queue_wait(gs_device *base, gs_queue queue, gs_event_ref event)
{
	gs_cuda_device *device = gs_cuda(base);

	GS_CUDA_ENTER(device);
	GS_CUDA_TRY(device, cudaStreamWaitEvent(device->streams[queue], event->event, 0));
	return GS_OK;
}

static gs_status
queue_sync(gs_device *base, gs_event_ref event)
{
	gs_cuda_device *device = gs_cuda(base);

	GS_CUDA_ENTER(device);
	GS_CUDA_TRY(device, cudaEventSynchronize(event->event));
	return GS_OK;
}

/*
 * Returns whether an event has happened.  One that will never happen counts as done: sync() tells
 * why.
 */
static bool
queue_done(gs_device *base, gs_event_ref event)
{
	gs_cuda_device *device = gs_cuda(base);
	cudaError_t error;

	if (gs_cuda_enter(device) != GS_OK)
		return true;
	error = cudaEventQuery(event->event);
	if (error == cudaSuccess)
		return true;
	(void) cudaGetLastError();
	return error != cudaErrorNotReady;
}

static void
queue_release(gs_device *base, gs_event_ref event)
{
	gs_cuda_device *device = gs_cuda(base);

	if (event == nullptr)
		return;
	if (event->previous != nullptr)
		event->previous->next = event->next;
	else
		device->live_events = event->next;
	if (event->next != nullptr)
		event->next->previous = event->previous;
	make_idle(device, event);
}

static gs_status
queue_reset(gs_device *base)
{
	gs_cuda_device *device = gs_cuda(base);

	while (device->live_events != nullptr)
		queue_release(base, device->live_events);
	GS_CUDA_ENTER(device);
	for (cudaStream_t stream : device->streams)
		GS_CUDA_TRY(device, cudaStreamSynchronize(stream));
	gs_cuda_rings_reset(device);
	device->base.error[0] = '\0';
	return gs_cuda_trace_reset(device);
}

void
gs_cuda_add_queue_ops(gs_device_ops *ops)
{
	ops->record = queue_record;
	ops->wait = queue_wait;
	ops->sync = queue_sync;
	ops->done = queue_done;
	ops->release = queue_release;
	ops->reset = queue_reset;
}
