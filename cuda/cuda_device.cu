/*
 * cuda_device.cu
 *		Opening GPUs, their memory, and making a group of them.
 *
 * A device owns everything that hangs on its gs_cuda_device.  Whatever open has created, close
 * destroys, however far open has come, so that an open that fails simply closes.
 *
 * One plain cudaMalloc is the arena; gs_arena.c hands it out without asking CUDA.  Host memory is
 * read and written at its own address, which CUDA grants on 64-bit Linux; a GPU for which it does
 * not is refused.
 */
#include <new>
#include <stdio.h>
#include <string.h>

#include "gs_cuda_device.cuh"

#define DEFAULT_PERCENT		80

static void cuda_close(gs_device *base);
static gs_device *cuda_open_lane(gs_device *base, size_t bytes);

extern "C" unsigned
gs_cuda_count(void)
{
	int			count = 0;

	if (cudaGetDeviceCount(&count) != cudaSuccess)
	{
		(void) cudaGetLastError();
		return 0;
	}
	return (unsigned) count;
}

static void
cuda_info(gs_device *base, gs_device_info *info)
{
	const gs_cuda_device *device = gs_cuda(base);

	memset(info, 0, sizeof(*info));
	snprintf(info->name, sizeof(info->name), "%.63s", device->properties.name);
	info->memory_bytes = device->properties.totalGlobalMem;
	info->arena_bytes = device->arena_bytes;
	info->number = (unsigned) device->cuda_device;
	info->peers = device->peers;
}

static bool
cuda_can_reach(gs_device *base, gs_device *peer)
{
	return (gs_cuda(base)->peers >> peer->index) & 1;
}

static void *
cuda_alloc(gs_device *base, size_t bytes)
{
	return gs_arena_alloc(gs_cuda(base)->arena, bytes);
}

static void
cuda_free(gs_device *base, void *memory)
{
	gs_arena_free(gs_cuda(base)->arena, memory);
}

static size_t
cuda_largest_free(gs_device *base)
{
	return gs_arena_largest_free(gs_cuda(base)->arena);
}

static gs_device_ops
make_ops(void)
{
	gs_device_ops ops = {};

	ops.close = cuda_close;
	ops.info = cuda_info;
	ops.open_lane = cuda_open_lane;
	ops.can_reach = cuda_can_reach;
	ops.alloc = cuda_alloc;
	ops.free = cuda_free;
	ops.largest_free = cuda_largest_free;
	ops.host_register = gs_cuda_host_register;
	ops.host_unregister = gs_cuda_host_unregister;
	ops.sort = gs_cuda_sort;
	gs_cuda_add_queue_ops(&ops);
	gs_cuda_add_trace_ops(&ops);
#define GS_OPERATION(name, ...)		ops.name = gs_cuda_##name;
#define GS_TEMP_BYTES(name, ...)	ops.name = gs_cuda_##name;
#include "engine/device/gs_operation_list.h"
	return ops;
}

/*
 * Takes the arena: so many bytes, of the parent's arena if there is one, or so many per cent of
 * what is free.
 */
static gs_status
open_arena(gs_cuda_device *device, size_t arena_bytes, unsigned percent)
{
	size_t		free_bytes;
	size_t		total_bytes;

	if (arena_bytes == 0)
	{
		GS_CUDA_TRY(device, cudaMemGetInfo(&free_bytes, &total_bytes));
		arena_bytes = free_bytes / 100 * (percent == 0 ? DEFAULT_PERCENT : percent);
	}
	arena_bytes = arena_bytes / GS_ARENA_ALIGNMENT * GS_ARENA_ALIGNMENT;
	if (device->parent == nullptr)
		GS_CUDA_TRY(device, cudaMalloc(&device->arena_memory, arena_bytes));
	else
		device->arena_memory = gs_arena_alloc(device->parent->arena, arena_bytes);
	if (device->arena_memory == nullptr)
		return gs_cuda_refused(device, GS_NO_SPACE, "there is no memory for a lane");
	device->arena_bytes = arena_bytes;
	device->arena = gs_arena_open(device->arena_memory, arena_bytes);
	if (device->arena == nullptr)
		return gs_cuda_refused(device, GS_NO_SPACE, "no host memory for the arena's bookkeeping");
	return GS_OK;
}

static gs_status
check_host_access(gs_cuda_device *device)
{
	int			same_address = 0;

	GS_CUDA_TRY(device,
				cudaDeviceGetAttribute(&same_address,
									   cudaDevAttrCanUseHostPointerForRegisteredMem,
									   device->cuda_device));
	if (!same_address)
		return gs_cuda_refused(device, GS_DEVICE_ERROR,
							   "it cannot use host memory at the host's addresses");
	return GS_OK;
}

static gs_status
open_device(gs_cuda_device *device, size_t arena_bytes, unsigned percent)
{
	GS_CUDA_ENTER(device);
	GS_CUDA_TRY(device, cudaGetDeviceProperties(&device->properties, device->cuda_device));
	GS_CUDA_CHECK(check_host_access(device));
	GS_CUDA_CHECK(gs_cuda_queues_open(device));
	GS_CUDA_CHECK(gs_cuda_rings_open(device));
	GS_CUDA_CHECK(gs_cuda_trace_open(device));
	GS_CUDA_CHECK(gs_cuda_scatter_open(device));
	GS_CUDA_TRY(device, cudaHostAlloc((void **) &device->answer, sizeof(*device->answer),
									  cudaHostAllocPortable));
	return open_arena(device, arena_bytes, percent);
}

/*
 * Opens GPU number cuda_device, or another device on the parent's GPU.  Returns NULL on failure;
 * error[] says why.
 */
static gs_cuda_device *
open_any(unsigned index, int cuda_device, gs_cuda_device *parent, size_t arena_bytes,
		 unsigned percent, char *error, size_t error_bytes)
{
	static const gs_device_ops ops = make_ops();
	gs_cuda_device *device = new (std::nothrow) gs_cuda_device{};

	if (device == nullptr)
	{
		snprintf(error, error_bytes, "out of memory");
		return nullptr;
	}
	device->base.ops = &ops;
	device->base.index = index;
	device->cuda_device = cuda_device;
	device->parent = parent;
	device->peers = UINT32_C(1) << index;
	if (open_device(device, arena_bytes, percent) != GS_OK)
	{
		snprintf(error, error_bytes, "%s", device->base.error);
		cuda_close(&device->base);
		return nullptr;
	}
	return device;
}

extern "C" gs_device *
gs_cuda_device_open(unsigned index, int cuda_device, size_t arena_bytes, unsigned percent,
					char *error, size_t error_bytes)
{
	gs_cuda_device *device = open_any(index, cuda_device, nullptr, arena_bytes, percent, error,
									  error_bytes);

	return device == nullptr ? nullptr : &device->base;
}

static gs_device *
cuda_open_lane(gs_device *base, size_t bytes)
{
	gs_cuda_device *parent = gs_cuda(base);
	gs_cuda_device *lane;

	if (bytes < GS_ARENA_ALIGNMENT)
		return nullptr;
	lane = open_any(base->index, parent->cuda_device, parent, bytes, 0, base->error,
					sizeof(base->error));
	if (lane == nullptr)
		return nullptr;
	return &lane->base;
}

/* Closes a device.  Failures are of no interest here, and a lost device fails everywhere. */
static void
cuda_close(gs_device *base)
{
	gs_cuda_device *device = gs_cuda(base);

	(void) cudaSetDevice(device->cuda_device);
	(void) cudaDeviceSynchronize();
	if (device->arena != nullptr)
		gs_arena_close(device->arena);
	if (device->parent != nullptr)
		gs_arena_free(device->parent->arena, device->arena_memory);
	else if (device->arena_memory != nullptr)
		(void) cudaFree(device->arena_memory);
	if (device->answer != nullptr)
		(void) cudaFreeHost(device->answer);
	gs_cuda_trace_close(device);
	gs_cuda_rings_close(device);
	gs_cuda_queues_close(device);
	(void) cudaGetLastError();
	delete device;
}

/* Lets `device` reach the memory of `peer`, if the hardware can. */
static gs_status
connect_peer(gs_cuda_device *device, const gs_cuda_device *peer)
{
	int			possible = 0;
	cudaError_t error;

	if (device->cuda_device != peer->cuda_device)
	{
		GS_CUDA_TRY(device, cudaDeviceCanAccessPeer(&possible, device->cuda_device,
													peer->cuda_device));
		if (!possible)
			return GS_OK;
		error = cudaDeviceEnablePeerAccess(peer->cuda_device, 0);
		if (error == cudaErrorPeerAccessAlreadyEnabled)
			(void) cudaGetLastError();
		else if (error != cudaSuccess)
			return gs_cuda_failed(device, error, "cudaDeviceEnablePeerAccess");
	}
	device->peers |= UINT32_C(1) << peer->base.index;
	return GS_OK;
}

extern "C" gs_status
gs_cuda_group_connect(gs_device **devices, unsigned ndevices)
{
	for (unsigned i = 0; i < ndevices; i++)
	{
		gs_cuda_device *device = gs_cuda(devices[i]);

		GS_CUDA_ENTER(device);
		for (unsigned j = 0; j < ndevices; j++)
			if (j != i)
				GS_CUDA_CHECK(connect_peer(device, gs_cuda(devices[j])));
	}
	return GS_OK;
}
