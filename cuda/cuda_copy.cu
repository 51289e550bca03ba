/*
 * cuda_copy.cu
 *		Copying memory, by the copy engines.
 *
 * Host memory is registered once for all GPUs of the process and mapped, so that copies run at the
 * link's speed and kernels may read planes where they lie.
 */
#include "gs_cuda_device.cuh"

gs_status
gs_cuda_host_register(gs_device *base, void *memory, size_t bytes)
{
	gs_cuda_device *device = gs_cuda(base);
	cudaError_t error;

	GS_CUDA_ENTER(device);
	error = cudaHostRegister(memory, bytes, cudaHostRegisterPortable | cudaHostRegisterMapped);
	if (error == cudaErrorHostMemoryAlreadyRegistered)
	{
		(void) cudaGetLastError();
		return GS_OK;
	}
	return error == cudaSuccess ? GS_OK : gs_cuda_failed(device, error, "cudaHostRegister");
}

void
gs_cuda_host_unregister(gs_device *base, void *memory)
{
	gs_cuda_device *device = gs_cuda(base);

	if (gs_cuda_enter(device) == GS_OK && cudaHostUnregister(memory) != cudaSuccess)
		(void) cudaGetLastError();
}

gs_status
gs_cuda_upload(gs_device *base, gs_queue queue, void *to, const void *from, size_t bytes)
{
	gs_cuda_device *device = gs_cuda(base);

	GS_CUDA_ENTER(device);
	GS_CUDA_TRY(device, cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice,
										device->streams[queue]));
	return GS_OK;
}

gs_status
gs_cuda_download(gs_device *base, gs_queue queue, void *to, const void *from, size_t bytes)
{
	gs_cuda_device *device = gs_cuda(base);

	GS_CUDA_ENTER(device);
	GS_CUDA_TRY(device, cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost,
										device->streams[queue]));
	return GS_OK;
}

gs_status
gs_cuda_copy(gs_device *base, gs_queue queue, void *to, gs_device *from_device, const void *from,
			 size_t bytes)
{
	gs_cuda_device *device = gs_cuda(base);
	const gs_cuda_device *source = gs_cuda(from_device);
	cudaStream_t stream = device->streams[queue];

	GS_CUDA_ENTER(device);
	if (source->cuda_device == device->cuda_device)
		GS_CUDA_TRY(device, cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream));
	else
		GS_CUDA_TRY(device, cudaMemcpyPeerAsync(to, device->cuda_device, from,
												source->cuda_device, bytes, stream));
	return GS_OK;
}

gs_status
gs_cuda_clear(gs_device *base, gs_queue queue, void *memory, size_t bytes)
{
	gs_cuda_device *device = gs_cuda(base);

	GS_CUDA_ENTER(device);
	GS_CUDA_TRY(device, cudaMemsetAsync(memory, 0, bytes, device->streams[queue]));
	return GS_OK;
}
