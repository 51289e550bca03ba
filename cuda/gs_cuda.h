/*
 * gs_cuda.h
 *		GPUs as sorting devices (see gs_device.h), for programs in C.
 *
 * A device takes its arena, streams, event pool and staging memory when it is
 * opened; sorting allocates nothing.  A program should open its devices once and
 * keep them: a CUDA context takes 0.4 s to make, 3.7 s for eight.
 */
#ifndef GS_CUDA_H
#define GS_CUDA_H

#include "engine/device/gs_device.h"

#ifdef __cplusplus
extern "C"
{
#endif

/* Returns how many GPUs this process may use; 0 also if there is no driver. */
extern unsigned gs_cuda_count(void);

/*
 * Opens GPU number cuda_device as device `index` of a group.  Takes arena_bytes of its memory or,
 * with 0, `percent` per cent of what is free (0: 80).  The same GPU may be opened more than once,
 * each time with memory of its own.  Returns NULL on failure, with the reason in error[].  The ops
 * table's close() closes the device.
 */
extern gs_device *gs_cuda_device_open(unsigned index, int cuda_device, size_t arena_bytes,
									  unsigned percent, char *error, size_t error_bytes);

/*
 * Makes the devices of a group known to each other, so that they can reach each other's memory
 * where the hardware lets them.  Devices without a direct path still copy to each other.
 */
extern gs_status gs_cuda_group_connect(gs_device **devices, unsigned ndevices);

#ifdef __cplusplus
}
#endif

#endif							/* GS_CUDA_H */
