/*
 * gs_device_memory.h
 *		How device memory is divided up.
 */
#ifndef GS_DEVICE_MEMORY_H
#define GS_DEVICE_MEMORY_H

#include "engine/device/gs_device_job.h"

extern unsigned gs_memory_planes(const gs_device_job *job, uint64_t nrows, unsigned nplanes,
								 bool ahead);
extern bool gs_memory_packs_apart(const gs_device_job *job);
extern uint64_t gs_memory_packed_segments(const gs_device_job *job, unsigned d);
extern gs_status gs_memory_shares(gs_device_job *job, unsigned min_rounds);
extern gs_status gs_memory_take(gs_device_job *job);

#endif							/* GS_DEVICE_MEMORY_H */
