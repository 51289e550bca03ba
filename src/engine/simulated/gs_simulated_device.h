/*
 * gs_simulated_device.h
 *		A sorting device in plain C, for tests and for gpusort.daemon = host:N.
 */
#ifndef GS_SIMULATED_DEVICE_H
#define GS_SIMULATED_DEVICE_H

#include "engine/device/gs_device.h"
#include "engine/simulated/gs_simulated_spoil.h"

/*
 * A simulated device that owns arena_bytes of memory; NULL if there is none.
 * fail_at: the operation of that number returns GS_DEVICE_ERROR, 0 for none.
 */
extern gs_device *gs_simulated_device_open(unsigned index, size_t arena_bytes, uint64_t fail_at);

/* All operations from that one on fail. */
extern void gs_simulated_device_keep_failing(gs_device *device);

/*
 * Do this damage to what the device has done, in its operation of that number of those
 * that sort, place, number or copy rows, and in every `every`th one from there on; 0:
 * only then.
 */
extern void gs_simulated_device_spoil(gs_device *device, gs_damage damage, uint64_t at,
									  uint64_t every);

/* Times that it has. */
extern uint64_t gs_simulated_device_spoilt(const gs_device *device);

#endif							/* GS_SIMULATED_DEVICE_H */
