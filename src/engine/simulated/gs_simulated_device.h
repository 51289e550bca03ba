/*
 * gs_simulated_device.h
 *		A sorting device in plain C, for tests and for gpusort.daemon = host:N.
 */
#ifndef GS_SIMULATED_DEVICE_H
#define GS_SIMULATED_DEVICE_H

#include "engine/device/gs_device.h"

/*
 * A simulated device that owns arena_bytes of memory; NULL if there is none.
 * fail_at: the operation of that number returns GS_DEVICE_ERROR, 0 for none.
 */
extern gs_device *gs_simulated_device_open(unsigned index, size_t arena_bytes, uint64_t fail_at);


#endif							/* GS_SIMULATED_DEVICE_H */
