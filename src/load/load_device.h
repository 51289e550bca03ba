/*
 * load_device.h
 *		Records and fields of an input, found by gpusortd.
 *
 * The chunks of the input lie in the pool then.  The leader gives the chunks that it has filled to
 * gpusortd, as many as there are in each job, and one job after the other.  Participants may take
 * the chunks of a job when gpusortd has answered it.  They believe what gpusortd has found as far
 * as it is proven (parse/gs_check.h).  If anything goes wrong, they find the fields themselves from
 * then on.
 */
#ifndef GPUSORT_LOAD_DEVICE_H
#define GPUSORT_LOAD_DEVICE_H

#include "load/load_share.h"

typedef struct GpuSortLoadDevice GpuSortLoadDevice;

/*
 * Returns NULL if fields are not to be found by gpusortd (gpusort.copy_parser), or can't be; all
 * other functions here accept NULL, too.  The device is allocated in the current context, and
 * released together with it, if gpusort_load_device_end() has not released it before.
 */
extern GpuSortLoadDevice *gpusort_load_device_begin(const gs_dialect *dialect, int nworkers);
extern void gpusort_load_device_end(GpuSortLoadDevice *device);

/*
 * Return how many chunks there is room for, and the extents of the pool that the chunks lie in, or
 * NULL if they do not lie in the pool.
 */
extern int	gpusort_load_places(const GpuSortLoadDevice *device, int nworkers);
extern const uint32 *gpusort_load_device_extents(const GpuSortLoadDevice *device);

/*
 * Lets participants take the chunks in which gpusortd has found the fields, and has gpusortd look
 * at those that were filled since.
 */
extern void gpusort_load_device_serve(GpuSortLoadDevice *device, GpuSortLoadShare *share);

/* Waits for gpusortd's answer; returns false if gpusortd has not been asked anything. */
extern bool gpusort_load_device_wait(GpuSortLoadDevice *device);

#endif							/* GPUSORT_LOAD_DEVICE_H */
