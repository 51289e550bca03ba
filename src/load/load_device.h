/*
 * load_device.h
 *		Records and fields of an input, found by gpusortd.
 *
 * Chunks lie in the pool then.  Those that the leader has filled are given to gpusortd, as many as there
 * are, one job after the other, and others may take them when it has answered.  Whatever goes wrong,
 * participants find fields themselves from then on.  What gpusortd says is believed as far as it is proven
 * (parse/gs_check.h).
 */
#ifndef GPUSORT_LOAD_DEVICE_H
#define GPUSORT_LOAD_DEVICE_H

#include "load/load_share.h"

typedef struct GpuSortLoadDevice GpuSortLoadDevice;

/*
 * NULL if it is not wanted (gpusort.copy_parser), or not possible; the others take that, too.  In the
 * current context, with which it ends if nothing else ends it.
 */
extern GpuSortLoadDevice *gpusort_load_device_begin(const gs_dialect *dialect, int nworkers);
extern void gpusort_load_device_end(GpuSortLoadDevice *device);

/* How many chunks there is room for, and where; NULL: not in the pool. */
extern int	gpusort_load_places(const GpuSortLoadDevice *device, int nworkers);
extern const uint32 *gpusort_load_device_extents(const GpuSortLoadDevice *device);

/* Let others take what was found, and have gpusortd look at what was filled since. */
extern void gpusort_load_device_serve(GpuSortLoadDevice *device, GpuSortLoadShare *share);

/* Wait for an answer; false: nothing was asked. */
extern bool gpusort_load_device_wait(GpuSortLoadDevice *device);

#endif							/* GPUSORT_LOAD_DEVICE_H */
