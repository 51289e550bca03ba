/*
 * cuda_error.cu
 *		Turning CUDA's errors into statuses.
 *
 * Most failures concern one call and leave the context usable.  After a fault inside a kernel, an
 * uncorrectable memory error and the like every further call fails in the same way until the
 * process ends.  Which kind of failure it was is not looked up in a list, which would age with
 * every release of CUDA, but tried: if an innocent query fails too once the error has been cleared,
 * the device is lost.
 */
#include <stdio.h>

#include "gs_cuda_device.cuh"

static bool
context_is_broken(gs_cuda_device *device)
{
	cudaError_t error;

	if (device->streams[GS_QUEUE_WORK] == nullptr)
		return false;
	error = cudaStreamQuery(device->streams[GS_QUEUE_WORK]);
	(void) cudaGetLastError();
	return error != cudaSuccess && error != cudaErrorNotReady;
}

gs_status
gs_cuda_failed(gs_cuda_device *device, cudaError_t error, const char *what)
{
	(void) cudaGetLastError();
	snprintf(device->base.error, sizeof(device->base.error), "GPU %d: %s (%s), in %.120s",
			 device->cuda_device, cudaGetErrorString(error), cudaGetErrorName(error), what);
	if (error == cudaErrorMemoryAllocation)
		return GS_NO_SPACE;
	if (!device->lost && !context_is_broken(device))
		return GS_DEVICE_ERROR;
	device->lost = true;
	return GS_DEVICE_LOST;
}

gs_status
gs_cuda_refused(gs_cuda_device *device, gs_status status, const char *why)
{
	snprintf(device->base.error, sizeof(device->base.error), "GPU %d: %s", device->cuda_device,
			 why);
	return status;
}

gs_status
gs_cuda_enter(gs_cuda_device *device)
{
	if (device->lost)
		return GS_DEVICE_LOST;
	GS_CUDA_TRY(device, cudaSetDevice(device->cuda_device));
	return GS_OK;
}
